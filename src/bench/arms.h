// Arms: settings that are compared, each run once a repetition, the first one in turn; the seconds of each.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "bench/timing.h"

namespace hone::bench {

// Of `repetitions` that the user did not choose: ratios of schedules are asked for from so many.
constexpr int kArmRepetitions = 20;

struct Arm {
  std::string name;
  std::vector<double> seconds, modelled_seconds;  // by repetition; of the whole run
};

// Median, least and largest of a / b over repetitions.
struct Ratio {
  double median = 0, least = 0, largest = 0;
};
inline Ratio ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all;
  for (size_t i = 0; i < a.size(); ++i) all.push_back(a[i] / b[i]);
  return {median(all), *std::min_element(all.begin(), all.end()), *std::max_element(all.begin(), all.end())};
}

}  // namespace hone::bench
