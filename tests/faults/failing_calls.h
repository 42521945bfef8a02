// FailingCalls: the system's calls that change the disk, of which one fails, or all that need room from one on, or at
// which the process ends. While the object lives they stand in place of the system's.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "io/system_calls.h"

namespace hone::test {

enum class Failure {
  error,   // call k fails with EIO, once
  full,    // from call k on nothing that needs room succeeds: ENOSPC
  cut,     // the same, and a write that is call k takes half of its bytes first
  killed,  // the process ends at call k, a write half done
};
inline const char* name(Failure failure) {
  constexpr const char* kNames[] = {"error", "full", "cut", "killed"};
  return kNames[static_cast<int>(failure)];
}

class FailingCalls {
 public:
  FailingCalls(Failure failure, int64_t call) {
    state() = {failure, call, 0, false};
    static const io::SystemCalls calls = table();
    io::replace_system_calls(&calls);
  }
  ~FailingCalls() { io::replace_system_calls(nullptr); }
  FailingCalls(const FailingCalls&) = delete;
  FailingCalls& operator=(const FailingCalls&) = delete;
  // Whether something failed. When not, the work makes fewer calls than `call`.
  static bool reached() { return state().reached; }

 private:
  struct State {
    Failure failure = Failure::error;
    int64_t call = 0, count = 0;
    bool reached = false;
  };
  static State& state() {
    static State instance;
    return instance;
  }

  // Whether this call fails; sets errno. `needs_room`: a full disk stops it.
  static bool fails(bool needs_room) {
    State& s = state();
    const int64_t number = s.count++;
    if (s.failure == Failure::killed && number == s.call) ::_exit(137);
    const bool full = s.failure == Failure::full || s.failure == Failure::cut;
    const bool now = full ? number >= s.call && needs_room : number == s.call;
    if (!now) return false;
    s.reached = true;
    errno = full ? ENOSPC : EIO;
    return true;
  }

  static io::SystemCalls table() {
    io::SystemCalls calls;
    calls.open = [](const char* path, int flags, mode_t mode) {
      struct stat status;
      const bool makes = (flags & O_CREAT) != 0 && ::stat(path, &status) != 0;
      return fails(makes) ? -1 : ::open(path, flags, mode);
    };
    calls.write = [](int fd, const void* data, size_t size_bytes) -> ssize_t {
      State& s = state();
      const bool now = s.count == s.call && size_bytes > 1;
      if (now && (s.failure == Failure::cut || s.failure == Failure::killed)) {
        if (s.failure == Failure::cut) ++s.count;
        const ssize_t written = ::write(fd, data, size_bytes / 2);
        if (s.failure == Failure::killed) ::_exit(137);
        return written;
      }
      return fails(true) ? -1 : ::write(fd, data, size_bytes);
    };
    calls.fsync = [](int fd) { return fails(false) ? -1 : ::fsync(fd); };
    calls.close = [](int fd) {
      const bool failed = fails(false);
      const int result = ::close(fd);  // the descriptor is gone in any case
      if (failed) errno = EIO;
      return failed ? -1 : result;
    };
    calls.truncate = [](const char* path, off_t size) { return fails(false) ? -1 : ::truncate(path, size); };
    calls.rename = [](const char* from, const char* to) { return fails(false) ? -1 : ::rename(from, to); };
    calls.exchange = [](const char* one, const char* other) {
      return fails(false) ? -1 : ::renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
    };
    calls.mkdir = [](const char* path, mode_t mode) { return fails(true) ? -1 : ::mkdir(path, mode); };
    calls.unlink = [](const char* path) { return fails(false) ? -1 : ::unlink(path); };
    calls.rmdir = [](const char* path) { return fails(false) ? -1 : ::rmdir(path); };
    return calls;
  }
};

}  // namespace hone::test
