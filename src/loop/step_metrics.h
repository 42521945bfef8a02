// Timed: adds the seconds of its life to a metric. Spread: mean, max and min of what it is given.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "loop/metrics.h"

namespace hone {

class Timed {
 public:
  Timed(Metrics& metrics, std::string name)
      : metrics_(metrics), name_(std::move(name)), start_(std::chrono::steady_clock::now()) {}
  ~Timed() { metrics_.add(name_, std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count()); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Metrics& metrics_;
  std::string name_;
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
