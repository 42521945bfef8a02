// ChildProcess: a program started beside this one, with a pipe to its input, its output and its error output. It gets
// no other file descriptor of ours, a process group of its own (so that an interrupt at the terminal is ours alone and
// that everything it starts is ended with it) and a limit on its memory. It never outlives this object.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hone::workers {

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return fd_; }
  void reset();

 private:
  int fd_ = -1;
};

class ChildProcess {
 public:
  // `argv[0]` is looked for in PATH. memory_bytes 0: no limit. `environment`: "NAME=value", beside ours and in place of
  // ours of that name. Raises Error when the program cannot be started.
  ChildProcess(const std::vector<std::string>& argv, int64_t memory_bytes,
               const std::vector<std::string>& environment = {});
  ~ChildProcess();  // ends it and waits for it: nothing is left behind
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Our ends of the pipes; reads and writes do not wait.
  int input() const { return input_.get(); }
  int output() const { return output_.get(); }
  int errors() const { return errors_.get(); }
  pid_t pid() const { return pid_; }

  // Whether it has ended, without waiting. What it started ends with it.
  bool ended();
  // Ends it with all it started, and waits for its end.
  void kill();
  // Waits up to `seconds` for its end; says whether it came.
  bool wait(double seconds);
  // "exit code 3" or "signal 9 (Killed)"; empty while it runs.
  std::string how_it_ended() const;
  int end_signal() const;  // 0: none

 private:
  // Ends its group while the group's number is still ours, which is as long as nobody waited for it; then waits for it.
  void end_group();

  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
  Descriptor input_, output_, errors_;
};

}  // namespace hone::workers
