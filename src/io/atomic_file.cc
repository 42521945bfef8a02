#include "io/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "core/activity.h"
#include "core/error.h"
#include "io/file.h"

namespace hone::io {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = ".hone-tmp-";  // .hone-tmp-PID-COUNT-NAME

std::string parent_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string temporary_name(const std::string& path) {
  static std::atomic<int> count{0};
  const std::string name = fs::path(path).filename().string();
  while (true) {  // process ids come round again, so a killed namesake may have left such a name
    const std::string temporary =
        join_path(parent_of(path), fmt::format("{}{}-{}-{}", kPrefix, ::getpid(), count++, name));
    if (!exists(temporary)) return temporary;
  }
}

void sync_path(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) raise_system("open", path, errno);
  const int result = ::fsync(fd);
  const int error_number = errno;
  ::close(fd);
  if (result != 0) raise_system("sync", path, error_number);
}

void sync_folder(const std::string& path) { sync_path(path, O_RDONLY | O_DIRECTORY); }

// Files before the folders that name them.
void sync_tree(const std::string& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_symlink()) continue;
    if (entry.is_directory()) {
      sync_tree(entry.path().string());
    } else {
      sync_path(entry.path().string(), O_RDONLY);
    }
  }
  sync_folder(folder);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), temporary_(temporary_name(path)) {
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd_ < 0) raise_system("write", path_, errno);
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, int64_t size_bytes) {
  HONE_CHECK(fd_ >= 0, "{} is committed", path_);
  const Doing doing("writing a file");
  const char* bytes = static_cast<const char*>(data);
  while (size_bytes > 0) {
    const ssize_t n = ::write(fd_, bytes, static_cast<size_t>(size_bytes));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) raise_system("write", path_, errno);
    bytes += n;
    size_bytes -= n;
  }
}

void AtomicFile::commit() {
  const Doing doing("putting a file in place");
  HONE_CHECK(fd_ >= 0, "{} is committed", path_);
  if (::fsync(fd_) != 0) raise_system("sync", path_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) raise_system("write", path_, errno);
  ::close(fd_);
  fd_ = -1;
  sync_folder(parent_of(path_));
}

void write_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

AtomicFolder::AtomicFolder(const std::string& final_path)
    : final_path_(without_slash(final_path)), temporary_(temporary_name(final_path_)) {
  if (::mkdir(temporary_.c_str(), 0755) != 0) raise_system("write", final_path_, errno);
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(temporary_, ignored);
}

void AtomicFolder::commit() {
  const Doing doing("putting a folder in place");
  HONE_CHECK(!committed_, "{} is committed", final_path_);
  sync_tree(temporary_);
  if (::rename(temporary_.c_str(), final_path_.c_str()) == 0) {
    committed_ = true;
  } else if (errno != ENOTEMPTY && errno != EEXIST) {
    raise_system("write", final_path_, errno);
  } else {
    // An older folder of that name: both names are exchanged at once, so that one of the two is always whole.
    if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, final_path_.c_str(), RENAME_EXCHANGE) != 0) {
      throw Error(fmt::format("cannot replace folder {}: its file system cannot exchange two folders", final_path_),
                  "remove or rename the old folder");
    }
    committed_ = true;
    sync_folder(parent_of(final_path_));
    std::error_code ignored;  // the new folder is in place; what is left of the old one is a leftover
    fs::remove_all(temporary_, ignored);
  }
  sync_folder(parent_of(final_path_));
}

void remove_leftovers(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, kPrefix.size(), kPrefix) != 0) continue;
    int pid = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), pid);
    const bool alive = pid > 0 && pid != ::getpid() && (::kill(pid, 0) == 0 || errno == EPERM);
    std::error_code ignored;
    if (!alive) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace hone::io
