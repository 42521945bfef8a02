#include "io/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"
#include "io/file.h"
#include "io/system_calls.h"

namespace hone::io {

FolderLock::FolderLock(const std::string& folder) {
  const std::string path = join_path(folder, ".lock");
  fd_ = system_calls().open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) raise_system("open", path, errno);
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    close(std::exchange(fd_, -1));
    throw Error(fmt::format("{}: another process is working in this folder", folder),
                "wait for it, or name another folder");
  }
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace hone::io
