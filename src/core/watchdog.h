// Watchdog: looks at all activities (core/activity.h) from a thread of its own. When none of them has come on for so
// many seconds it reports, once, what each does and since when; when work goes on it says so. It changes no result.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace hone {

class Watchdog {
 public:
  // `report` gets whole lines, without the last line end, on the watchdog's thread. 0 seconds: there is no watchdog.
  Watchdog(double stall_seconds, std::function<void(const std::string& text)> report);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    uint64_t beats = 0;
    Clock::time_point since;
  };
  void watch();
  void look();
  std::string describe(Clock::time_point now) const;

  double stall_seconds_;
  std::function<void(const std::string&)> report_;
  std::map<uint64_t, Seen> seen_;  // by id of the activity
  Clock::time_point last_progress_;
  bool stalled_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace hone
