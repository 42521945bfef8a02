#include "workers/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "core/error.h"

namespace hone::workers {

namespace {

[[noreturn]] void raise(const std::string& what, int error_number) {
  throw Error(fmt::format("cannot {}: {}", what, strerror(error_number)));
}

// Both ends close on exec; the one that stays here does not wait.
std::pair<Descriptor, Descriptor> make_pipe(bool we_read) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) raise("make a pipe", errno);
  const int ours = ends[we_read ? 0 : 1];
  fcntl(ours, F_SETFL, fcntl(ours, F_GETFL) | O_NONBLOCK);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

struct Actions {
  Actions() { posix_spawn_file_actions_init(&value); }
  ~Actions() { posix_spawn_file_actions_destroy(&value); }
  posix_spawn_file_actions_t value;
};

struct Attributes {
  // A group of its own, no blocked signal, every signal with its default.
  Attributes() {
    posix_spawnattr_init(&value);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setpgroup(&value, 0);
    posix_spawnattr_setsigmask(&value, &none);
    posix_spawnattr_setsigdefault(&value, &all);
    posix_spawnattr_setflags(&value, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { posix_spawnattr_destroy(&value); }
  posix_spawnattr_t value;
};

// As exec takes them, with a null at the end.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> with_ours(const std::vector<std::string>& environment) {
  std::vector<std::string> variables = environment;
  for (char** ours = environ; *ours != nullptr; ++ours) {
    const std::string_view variable = *ours;
    const std::string_view name = variable.substr(0, variable.find('=') + 1);  // with the sign
    const bool replaced =
        std::any_of(environment.begin(), environment.end(), [&](const auto& v) { return v.starts_with(name); });
    if (!replaced) variables.emplace_back(variable);
  }
  return variables;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

void Descriptor::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

ChildProcess::ChildProcess(const std::vector<std::string>& argv, int64_t memory_bytes,
                           const std::vector<std::string>& environment) {
  HONE_CHECK(!argv.empty(), "no program");
  auto [in_read, in_write] = make_pipe(false);
  auto [out_read, out_write] = make_pipe(true);
  auto [err_read, err_write] = make_pipe(true);
  Actions actions;
  posix_spawn_file_actions_adddup2(&actions.value, in_read.get(), 0);
  posix_spawn_file_actions_adddup2(&actions.value, out_write.get(), 1);
  posix_spawn_file_actions_adddup2(&actions.value, err_write.get(), 2);
  posix_spawn_file_actions_addclosefrom_np(&actions.value, 3);
  const Attributes attributes;
  std::vector<std::string> arguments = argv, variables = with_ours(environment);
  const std::vector<char*> argument_pointers = pointers_to(arguments), variable_pointers = pointers_to(variables);
  const int error = posix_spawnp(&pid_, argument_pointers[0], &actions.value, &attributes.value,
                                 argument_pointers.data(), variable_pointers.data());
  if (error != 0) raise(fmt::format("start '{}'", argv[0]), error);
  if (memory_bytes > 0) {
    const auto bytes = static_cast<rlim_t>(memory_bytes);
    const rlimit limit{bytes, bytes}, no_core{0, 0};
    prlimit(pid_, RLIMIT_AS, &limit, nullptr);  // fails only when the program has ended already
    prlimit(pid_, RLIMIT_CORE, &no_core, nullptr);
  }
  input_ = std::move(in_write);
  output_ = std::move(out_read);
  errors_ = std::move(err_read);
}

ChildProcess::~ChildProcess() { kill(); }

bool ChildProcess::ended() {
  if (ended_) return true;
  siginfo_t news{};
  int result;
  do {
    result = ::waitid(P_PID, static_cast<id_t>(pid_), &news, WEXITED | WNOHANG | WNOWAIT);
  } while (result < 0 && errno == EINTR);
  if (result < 0) {
    ended_ = true;  // someone else took the news of its end: its number, and that of its group, may be another's by now
  } else if (news.si_pid == pid_) {
    end_group();
  }
  return ended_;
}

void ChildProcess::kill() {
  if (!ended()) end_group();
}

void ChildProcess::end_group() {
  ::kill(-pid_, SIGKILL);
  int status = 0;
  pid_t waited;
  do {
    waited = ::waitpid(pid_, &status, 0);
  } while (waited < 0 && errno == EINTR);
  ended_ = true;
  if (waited == pid_) status_ = status;
}

bool ChildProcess::wait(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!ended()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

int ChildProcess::end_signal() const { return ended_ && WIFSIGNALED(status_) ? WTERMSIG(status_) : 0; }

std::string ChildProcess::how_it_ended() const {
  if (!ended_) return "";
  if (const int number = end_signal(); number != 0) return fmt::format("signal {} ({})", number, strsignal(number));
  return fmt::format("exit code {}", WEXITSTATUS(status_));
}

}  // namespace hone::workers
