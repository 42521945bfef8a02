#include "core/watchdog.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/activity.h"

namespace hone {

namespace {
double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}
}  // namespace

Watchdog::Watchdog(double stall_seconds, std::function<void(const std::string& text)> report)
    : stall_seconds_(stall_seconds), report_(std::move(report)), last_progress_(Clock::now()) {
  if (stall_seconds_ > 0) thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watchdog::watch() {
  // times are as exact as the looks are frequent: a twentieth of the limit, at most a second
  const auto interval = std::chrono::duration<double>(std::clamp(stall_seconds_ / 20, 0.001, 1.0));
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, interval, [&] { return stop_; })) look();
}

void Watchdog::look() {
  const auto now = Clock::now();
  bool progress = false;
  std::map<uint64_t, Seen> seen;
  for (const Activity::State& state : Activity::all()) {
    const auto before = seen_.find(state.id);
    const bool same = before != seen_.end() && before->second.beats == state.beats;
    progress = progress || !same;
    seen[state.id] = same ? before->second : Seen{state.beats, now};
  }
  progress = progress || seen.size() != seen_.size();  // one has ended
  seen_ = std::move(seen);
  if (progress) {
    const double stood = seconds_between(last_progress_, now);
    last_progress_ = now;
    if (stalled_) report_(fmt::format("watchdog: going on after {:.3g} s without progress", stood));
    stalled_ = false;
  } else if (!stalled_ && seconds_between(last_progress_, now) >= stall_seconds_) {
    stalled_ = true;
    report_(describe(now));
  }
}

std::string Watchdog::describe(Clock::time_point now) const {
  std::string text = fmt::format("watchdog: no progress for {:.3g} s; what each waits for, and since when:",
                                 seconds_between(last_progress_, now));
  for (const Activity::State& state : Activity::all()) {
    const auto seen = seen_.find(state.id);
    const double since = seen == seen_.end() ? 0.0 : seconds_between(seen->second.since, now);
    text += fmt::format("\n  {:<24} {:>8.3g} s  {}", state.name, since, state.doing);
  }
  return text;
}

}  // namespace hone
