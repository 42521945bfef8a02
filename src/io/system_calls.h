// The calls by which Hone changes the disk, in one table, so that a test can make each of them fail in its turn. What
// reads goes to the system directly.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace hone::io {

// Each as the system's call of that name: -1 and errno when it fails.
struct SystemCalls {
  int (*open)(const char* path, int flags, mode_t mode);
  ssize_t (*write)(int fd, const void* data, size_t size_bytes);
  int (*fsync)(int fd);
  int (*close)(int fd);
  int (*truncate)(const char* path, off_t size_bytes);
  int (*rename)(const char* from, const char* to);
  int (*exchange)(const char* one, const char* other);  // of two names, in one step
  int (*mkdir)(const char* path, mode_t mode);
  int (*unlink)(const char* path);
  int (*rmdir)(const char* path);
};

const SystemCalls& system_calls();
// For tests: other calls in place of the system's, nullptr for the system's again. The table must outlive its use, and
// no other thread may write meanwhile.
void replace_system_calls(const SystemCalls* calls);

// All bytes, whatever the system takes at once. False with errno when it fails.
bool write_all(int fd, const char* data, size_t size_bytes);

// Renames; on the same file system. Raises Error.
void rename_path(const std::string& from, const std::string& to);
// Removes a file, or a folder with what is in it (links are removed, not followed). Nothing there is fine. Raises Error
// at the first thing that stays.
void remove_tree(const std::string& path);

}  // namespace hone::io
