// Answers that are made to take long: what tests and the benchmark hold against the limit of 50 ms.
#pragma once

#include <string>
#include <vector>

namespace hone::bench {

struct HostileAnswer {
  std::string text, ground_truth;
};

// Up to a megabyte each, and up to kMaxAnswerBytes inside of a box.
std::vector<HostileAnswer> hostile_answers();

}  // namespace hone::bench
