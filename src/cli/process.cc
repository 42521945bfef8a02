#include "cli/process.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "io/file.h"

namespace hone::cli {

namespace {

// Only calls that a signal handler may make.
void on_bus_error(int, siginfo_t* info, void*) {
  const char* path = io::name_mapped_file(info->si_addr);
  if (path == nullptr) return;  // the access is tried again and ends the process
  for (const char* text : {"error: ", path, ": became shorter while it was read\n",
                           "hint: wait until nothing writes this file, then start again\n"}) {
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  ::_exit(2);
}

}  // namespace

void prepare_process() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) == -1) ::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
  }
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_RESETHAND;
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace hone::cli
