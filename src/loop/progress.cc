#include "loop/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

namespace hone {

namespace {
constexpr double kTerminalInterval = 0.1, kPlainInterval = 10.0;  // seconds
}

std::string format_seconds(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

Progress::Progress(std::string phase, int64_t total, bool quiet)
    : phase_(std::move(phase)),
      total_(total),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      printed_(start_) {}

Progress::~Progress() {
  if (quiet_) return;
  if (terminal_) {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  } else if (shown_) {
    print(true);
  }
  std::fflush(stderr);
}

void Progress::update(int64_t done) {
  done_ = done;
  const auto now = std::chrono::steady_clock::now();
  const double since = std::chrono::duration<double>(now - printed_).count();
  if (quiet_ || since < (terminal_ ? kTerminalInterval : kPlainInterval)) return;
  printed_ = now;
  print(false);
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::print(bool last) {
  shown_ = true;
  std::string line = phase_;
  if (total_ > 0) line += fmt::format(" {}/{}", done_, total_);
  if (last) {
    line += "  " + format_seconds(seconds());
  } else if (total_ > 0 && done_ > 0) {
    const double left = seconds() * static_cast<double>(total_ - done_) / static_cast<double>(done_);
    line += fmt::format("  {} left", format_seconds(left));
  }
  if (terminal_) {
    fmt::print(stderr, "\r\x1b[K{}", line);
  } else {
    fmt::print(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

}  // namespace hone
