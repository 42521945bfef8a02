#include "loop/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <cstring>

namespace hone {

namespace {

volatile sig_atomic_t g_signals = 0;  // a handler can reach nothing else
const char* g_message = "";
struct sigaction g_old_int, g_old_term;

void on_signal(int) {
  g_signals = g_signals + 1;
  if (g_signals > 1) _exit(130);
  if (write(STDERR_FILENO, g_message, std::strlen(g_message)) < 0) return;
}

}  // namespace

Interrupt::Interrupt(const char* message) {
  g_signals = 0;
  g_message = message;
  struct sigaction action;
  std::memset(&action, 0, sizeof(action));
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &g_old_int);
  sigaction(SIGTERM, &action, &g_old_term);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &g_old_int, nullptr);
  sigaction(SIGTERM, &g_old_term, nullptr);
}

bool Interrupt::requested() const { return g_signals > 0; }

}  // namespace hone
