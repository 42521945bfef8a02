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
#include <utility>

#include "core/activity.h"
#include "core/error.h"
#include "io/file.h"
#include "io/system_calls.h"

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
  const int fd = system_calls().open(path.c_str(), flags | O_CLOEXEC, 0);
  if (fd < 0) raise_system("open", path, errno);
  const bool synced = system_calls().fsync(fd) == 0;
  const int error_number = errno;
  if (system_calls().close(fd) != 0 && synced) raise_system("close", path, errno);
  if (!synced) raise_system("sync", path, error_number);
}

void sync_folder(const std::string& path) { sync_path(path, O_RDONLY | O_DIRECTORY); }

// Under a name that no reader takes for whole, so that it may stay: the next start tries again.
void remove_leftover(const std::string& path) {
  try {
    remove_tree(path);
  } catch (const Error&) {
  }
}

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
  fd_ = system_calls().open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd_ < 0) raise_system("write", path_, errno);
}

AtomicFile::~AtomicFile() {
  if (committed_) return;
  if (fd_ >= 0) system_calls().close(fd_);
  system_calls().unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, int64_t size_bytes) {
  HONE_CHECK(fd_ >= 0, "{} is committed", path_);
  const Doing doing("writing a file");
  if (!write_all(fd_, static_cast<const char*>(data), static_cast<size_t>(size_bytes))) {
    raise_system("write", path_, errno);
  }
}

void AtomicFile::commit() {
  const Doing doing("putting a file in place");
  HONE_CHECK(fd_ >= 0, "{} is committed", path_);
  if (system_calls().fsync(fd_) != 0) raise_system("sync", path_, errno);
  // some file systems tell of a failed write only here, so before the name is given
  if (system_calls().close(std::exchange(fd_, -1)) != 0) raise_system("write", path_, errno);
  if (system_calls().rename(temporary_.c_str(), path_.c_str()) != 0) raise_system("write", path_, errno);
  committed_ = true;
  sync_folder(parent_of(path_));
}

void write_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

AtomicFolder::AtomicFolder(const std::string& final_path)
    : final_path_(without_slash(final_path)), temporary_(temporary_name(final_path_)) {
  if (system_calls().mkdir(temporary_.c_str(), 0755) != 0) raise_system("write", final_path_, errno);
}

AtomicFolder::~AtomicFolder() {
  if (!committed_) remove_leftover(temporary_);
}

void AtomicFolder::commit() {
  const Doing doing("putting a folder in place");
  HONE_CHECK(!committed_, "{} is committed", final_path_);
  sync_tree(temporary_);
  if (system_calls().rename(temporary_.c_str(), final_path_.c_str()) == 0) {
    committed_ = true;
  } else if (errno != ENOTEMPTY && errno != EEXIST) {
    raise_system("write", final_path_, errno);
  } else {
    // An older folder of that name: both names are exchanged at once, so that one of the two is always whole.
    if (system_calls().exchange(temporary_.c_str(), final_path_.c_str()) != 0) {
      if (errno != EINVAL && errno != ENOSYS) raise_system("write", final_path_, errno);
      throw Error(fmt::format("cannot replace folder {}: its file system cannot exchange two folders", final_path_),
                  "remove or rename the old folder");
    }
    committed_ = true;
    sync_folder(parent_of(final_path_));
    remove_leftover(temporary_);
  }
  sync_folder(parent_of(final_path_));
}

void remove_folder(const std::string& path) {
  const std::string going = temporary_name(without_slash(path));
  rename_path(path, going);
  sync_folder(parent_of(going));
  remove_leftover(going);
}

void remove_leftovers(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, kPrefix.size(), kPrefix) != 0) continue;
    int pid = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), pid);
    const bool alive = pid > 0 && pid != ::getpid() && (::kill(pid, 0) == 0 || errno == EPERM);
    if (!alive) remove_leftover(entry.path().string());
  }
}

}  // namespace hone::io
