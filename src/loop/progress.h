// Progress: one line per phase with the time left, on standard error. On a terminal the line is rewritten in place and
// goes with the phase; elsewhere a phase of more than ten seconds prints a plain line every ten and one when it ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace hone {

class Progress {
 public:
  // total: units of work in the phase; 0 when unknown.
  Progress(std::string phase, int64_t total, bool quiet = false);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void update(int64_t done);

 private:
  void print(bool last);
  double seconds() const;

  std::string phase_;
  int64_t total_, done_ = 0;
  bool quiet_, terminal_;
  std::chrono::steady_clock::time_point start_, printed_;
  bool shown_ = false;
};

// "4.2 s", "3 min 05 s", "2 h 10 min".
std::string format_seconds(double seconds);

}  // namespace hone
