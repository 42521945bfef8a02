#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/line_file.h"

namespace hone::io {
namespace {
namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "hone_files_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return join_path(folder_, name); }
  size_t num_entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  std::string folder_;
};

std::string error_of(const std::function<void()>& use) {
  try {
    use();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(Files, ErrorsNamePathAndReason) {
  EXPECT_EQ(error_of([&] { read_file(path("none")); }), "cannot open " + path("none") + ": No such file or directory");
  EXPECT_EQ(error_of([&] { read_file(folder_); }), "cannot read " + folder_ + ": Is a directory");
  EXPECT_EQ(error_of([&] { write_file(path("no/such"), "x"); }),
            "cannot write " + path("no/such") + ": No such file or directory");
  write_file(path("file"), "x");
  EXPECT_NE(error_of([&] { make_folders(path("file/sub")); }), "no error");
}

// Nothing that is named as data may block, never end, or take memory for its size alone.
TEST_F(Files, WhatIsNoRegularFileIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("two", path("one").c_str()), 0);
  ASSERT_EQ(::symlink("one", path("two").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", path("dangling").c_str()), 0);
  struct Case {
    std::string path, reason;
  };
  const Case cases[] = {{path("pipe"), "expected a regular file, found a pipe"},
                        {"/dev/zero", "expected a regular file, found a device"},
                        {"/dev/null", "expected a regular file, found a device"},
                        {folder_, "Is a directory"},
                        {path("one"), "Too many levels of symbolic links"},
                        {path("dangling"), "No such file or directory"},
                        {path("file/x"), "Not a directory"},
                        {"", "No such file or directory"}};
  write_file(path("file"), "x");
  for (const Case& c : cases) {
    for (const std::string& error :
         {error_of([&] { read_file(c.path); }), error_of([&] { const MappedFile map(c.path); })}) {
      EXPECT_NE(error.find(c.reason), std::string::npos) << c.path << ": " << error;
      EXPECT_NE(error.find(c.path), std::string::npos) << error;
    }
  }
  // a hole of a terabyte costs nothing on the disk
  write_file(path("huge"), "");
  ASSERT_EQ(::truncate(path("huge").c_str(), off_t{1} << 40), 0);
  EXPECT_EQ(error_of([&] { read_file(path("huge")); }),
            path("huge") + ": expected at most 8589934592 bytes, found 1099511627776");
  EXPECT_EQ(error_of([&] { read_file(path("file"), 0); }), path("file") + ": expected at most 0 bytes, found 1");
  if (::geteuid() != 0) {
    ASSERT_EQ(::chmod(path("file").c_str(), 0), 0);
    EXPECT_NE(error_of([&] { read_file(path("file")); }).find("Permission denied"), std::string::npos);
  }
}

TEST_F(Files, AMappedFileThatChangedIsFound) {
  const auto change = [&](const std::function<void()>& how) {
    write_file(path("map"), "0123456789");
    const MappedFile map(path("map"));
    map.check_unchanged();
    how();
    return error_of([&] { map.check_unchanged(); });
  };
  EXPECT_EQ(change([] {}), "no error");
  EXPECT_EQ(change([&] { ::truncate(path("map").c_str(), 4); }),
            path("map") + ": its size changed while it was read: 10 bytes at first, 4 now");
  EXPECT_NE(change([&] { write_file(path("map"), "9876543210"); }).find("changed while it was read"),
            std::string::npos);
  EXPECT_NE(change([&] { fs::remove(path("map")); }).find("No such file"), std::string::npos);
  write_file(path("map"), "abc");
  const MappedFile map(path("map"));
  EXPECT_STREQ(name_mapped_file(map.data() + 1), path("map").c_str());
  EXPECT_EQ(name_mapped_file(&map), nullptr);
}

TEST_F(Files, AnUncommittedFileLeavesTheOldOne) {
  write_file(path("a"), "old");
  {
    AtomicFile file(path("a"));
    file.write("new");
    EXPECT_EQ(read_file(path("a")), "old");
  }
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(num_entries(), 1u);
  write_file(path("a"), "new");
  EXPECT_EQ(read_file(path("a")), "new");
  EXPECT_EQ(num_entries(), 1u);
  EXPECT_EQ(read_file("/proc/self/stat").empty(), false) << "files without a size are read to their end";
}

TEST_F(Files, AFolderReplacesAnOlderOneWhole) {
  for (const char* text : {"one", "two"}) {
    AtomicFolder folder(path("save/"));
    write_file(join_path(folder.path(), text), text);
    make_folders(join_path(folder.path(), "sub"));
    write_file(join_path(folder.path(), "sub/x"), text);
    folder.commit();
    EXPECT_EQ(read_file(path("save/sub/x")), text);
  }
  EXPECT_FALSE(exists(path("save/one")));
  { AtomicFolder dropped(path("save")); }
  EXPECT_EQ(read_file(path("save/two")), "two");
  EXPECT_EQ(num_entries(), 1u);
}

// A child is killed while it saves again and again; after each kill one of the two contents is there, whole.
TEST_F(Files, KilledWritersLeaveTheOldOrTheNew) {
  const std::string old_text(300000, 'o'), new_text(300000, 'n');
  write_file(path("file"), old_text);
  {
    AtomicFolder folder(path("folder"));
    write_file(join_path(folder.path(), "x"), old_text);
    folder.commit();
  }
  for (int round = 0; round < 12; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0;; ++i) {
        const std::string& text = i % 2 == 0 ? new_text : old_text;
        write_file(path("file"), text);
        AtomicFolder folder(path("folder"));
        write_file(join_path(folder.path(), "x"), text);
        folder.commit();
      }
    }
    ::usleep(static_cast<useconds_t>(2000 + 1700 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (const char* name : {"file", "folder/x"}) {
      const std::string text = read_file(path(name));
      EXPECT_TRUE(text == old_text || text == new_text) << name;
    }
  }
  remove_leftovers(folder_);
  EXPECT_EQ(num_entries(), 2u);
}

TEST_F(Files, LinesAreCutBackOnResume) {
  {
    LineFile file(path("m.jsonl"));
    for (const char* line : {"1", "2", "3"}) file.write_line(line);
    EXPECT_EQ(file.size_bytes(), 6);
  }
  write_file(path("m.jsonl"), read_file(path("m.jsonl")) + "half a li");
  {
    LineFile file(path("m.jsonl"));
    EXPECT_EQ(file.size_bytes(), 6);
    file.write_line("4");
  }
  EXPECT_EQ(read_file(path("m.jsonl")), "1\n2\n3\n4\n");
  EXPECT_EQ(cut_back_to(path("m.jsonl"), [](std::string_view line) { return line < "3"; }), 4);
  EXPECT_EQ(read_file(path("m.jsonl")), "1\n2\n");
  cut_back(path("m.jsonl"), 2);
  EXPECT_EQ(read_file(path("m.jsonl")), "1\n");
  EXPECT_NE(error_of([&] { cut_back(path("m.jsonl"), 3); }).find("expected at least 3 bytes, found 2"),
            std::string::npos);
  EXPECT_EQ(cut_back_to(path("none"), [](std::string_view) { return true; }), 0);
}

}  // namespace
}  // namespace hone::io
