// Runs the binary as a user would: a process of its own, its output in files, its exit code, signals on the way.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/file.h"

namespace hone::test {

using Environment = std::vector<std::pair<std::string, std::string>>;

class Command {
 public:
  // Starts `hone ARGUMENTS` with output to FOLDER/stdout and FOLDER/stderr, input from `input` (a path).
  Command(const std::string& folder, const std::vector<std::string>& arguments, const Environment& environment = {},
          const std::string& input = "/dev/null")
      : folder_(folder) {
    std::vector<std::string> all{HONE_BINARY};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& argument : all) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const std::string out = folder + "/stdout", err = folder + "/stderr";
    pid_ = ::fork();
    if (pid_ != 0) return;
    for (const auto& [key, value] : environment) ::setenv(key.c_str(), value.c_str(), 1);
    ::dup2(::open(input.c_str(), O_RDONLY), 0);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), 1);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), 2);
    ::execv(HONE_BINARY, argv.data());
    ::_exit(127);
  }
  ~Command() {
    if (!ended_) send(SIGKILL), wait();
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  void send(int signal) { ::kill(pid_, signal); }
  // Exit code, or 1000 + the signal that ended it.
  int wait() {
    while (!ended_) {
      int status = 0;
      if (::waitpid(pid_, &status, 0) < 0) break;
      note(status);
    }
    return code_;
  }
  bool ended() {
    int status = 0;
    if (!ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_) note(status);
    return ended_;
  }
  // Waits until the condition holds or the process has ended; says whether it holds.
  bool wait_until(const std::function<bool()>& condition) {
    while (!condition()) {
      if (ended()) return condition();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return true;
  }
  std::string out() const { return io::read_file(folder_ + "/stdout"); }
  std::string err() const { return io::read_file(folder_ + "/stderr"); }

 private:
  void note(int status) {
    ended_ = true;
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  std::string folder_;
  pid_t pid_ = -1;
  bool ended_ = false;
  int code_ = -1;
};

struct Result {
  int code = 0;
  std::string out, err;
};

inline Result run_hone(const std::string& folder, const std::vector<std::string>& arguments,
                       const Environment& environment = {}, const std::string& input = "/dev/null") {
  Command command(folder, arguments, environment, input);
  const int code = command.wait();
  return {code, command.out(), command.err()};
}

}  // namespace hone::test
