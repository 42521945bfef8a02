// Task hone/countdown: an expression that uses each of some numbers once and has a given value. Made from the solution:
// numbers are joined two by two, so that one is always known.
#pragma once

#include <cstdint>
#include <optional>

#include "prompts/task.h"

namespace hone {

struct CountdownOptions {
  int min_numbers = 3, max_numbers = 4;  // 2 to 6
  int64_t max_number = 99;               // numbers are 1 to max_number; at most 1,000
  int64_t max_target = 999;              // targets are 1 to max_target; at most 1,000,000
  // In place of the numbers above, of each item its own:
  //   1  3 numbers to 60, targets to 200      2  3 or 4 numbers to 99, targets to 999
  //   3  4 or 5                               4  5 or 6
  std::optional<DifficultyRange> difficulty = {};
  TaskSizes sizes;
  uint64_t seed = 1;
};

// Items with the same numbers, in whatever order, count as the same.
Task make_countdown(const CountdownOptions& options);

}  // namespace hone
