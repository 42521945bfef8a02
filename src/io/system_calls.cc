#include "io/system_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "io/file.h"

namespace hone::io {
namespace {

constexpr SystemCalls kSystem = {
    [](const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); },
    [](int fd, const void* data, size_t size_bytes) { return ::write(fd, data, size_bytes); },
    [](int fd) { return ::fsync(fd); },
    [](int fd) { return ::close(fd); },
    [](const char* path, off_t size_bytes) { return ::truncate(path, size_bytes); },
    [](const char* from, const char* to) { return std::rename(from, to); },
    [](const char* one, const char* other) { return ::renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE); },
    [](const char* path, mode_t mode) { return ::mkdir(path, mode); },
    [](const char* path) { return ::unlink(path); },
    [](const char* path) { return ::rmdir(path); },
};
const SystemCalls* g_calls = &kSystem;

}  // namespace

const SystemCalls& system_calls() { return *g_calls; }
void replace_system_calls(const SystemCalls* calls) { g_calls = calls == nullptr ? &kSystem : calls; }

bool write_all(int fd, const char* data, size_t size_bytes) {
  while (size_bytes > 0) {
    const ssize_t n = system_calls().write(fd, data, size_bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) {  // no progress and no reason: a file takes at least one byte or fails
      errno = EIO;
      return false;
    }
    data += n;
    size_bytes -= static_cast<size_t>(n);
  }
  return true;
}

void rename_path(const std::string& from, const std::string& to) {
  if (system_calls().rename(from.c_str(), to.c_str()) != 0) raise_system("rename " + from + " to", to, errno);
}

void remove_tree(const std::string& path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    raise_system("remove", path, errno);
  }
  if (!S_ISDIR(status.st_mode)) {
    if (system_calls().unlink(path.c_str()) != 0 && errno != ENOENT) raise_system("remove", path, errno);
    return;
  }
  std::vector<std::string> entries;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) entries.push_back(entry.path().string());
  if (error) raise_system("read", path, error.value());
  for (const std::string& entry : entries) remove_tree(entry);
  if (system_calls().rmdir(path.c_str()) != 0 && errno != ENOENT) raise_system("remove", path, errno);
}

}  // namespace hone::io
