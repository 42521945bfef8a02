// FolderLock: one process at a time works in a folder. The system gives the lock back when the process ends, however.
#pragma once

#include <string>
#include <utility>

namespace hone::io {

class FolderLock {
 public:
  FolderLock() = default;
  // Locks FOLDER/.lock. Raises Error when another process holds it.
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

 private:
  int fd_ = -1;
};

}  // namespace hone::io
