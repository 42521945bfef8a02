// Timed: adds the seconds of its life to a metric timing_s/PHASE, and tells the watchdog of the phase.
// Spread: mean, max, min and standard deviation of what it is given.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include "core/activity.h"
#include "loop/metrics.h"

namespace hone {

class Timed {
 public:
  // `phase` is a literal.
  Timed(Metrics& metrics, const char* phase)
      : doing_(phase), metrics_(metrics), phase_(phase), start_(std::chrono::steady_clock::now()) {}
  ~Timed() {
    const std::chrono::duration<double> life = std::chrono::steady_clock::now() - start_;
    metrics_.add(std::string("timing_s/") + phase_, life.count());
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Doing doing_;
  Metrics& metrics_;
  const char* phase_;
  std::chrono::steady_clock::time_point start_;
};

class Spread {
 public:
  void add(double value, int64_t times = 1) {
    if (times == 0) return;
    max_ = count_ == 0 ? value : std::max(max_, value);
    min_ = count_ == 0 ? value : std::min(min_, value);
    sum_ += value * static_cast<double>(times);
    count_ += times;
  }
  double mean() const { return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_); }
  double max() const { return max_; }
  int64_t count() const { return count_; }
  void report(Metrics& metrics, const std::string& name) const {
    if (count_ == 0) return;
    metrics.set(name + "/mean", mean());
    metrics.set(name + "/max", max_);
    metrics.set(name + "/min", min_);
  }

 private:
  double sum_ = 0, max_ = 0, min_ = 0;
  int64_t count_ = 0;
};

}  // namespace hone
