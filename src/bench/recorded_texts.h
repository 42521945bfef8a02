// Answers as ids, given to the engine in place of its draws: what speculation meets in a run. Sums are those of a
// quickstart run in the middle of its training, code was written for this.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::bench {

struct RecordedGroup {
  std::vector<int32_t> prompt;
  std::vector<std::vector<int32_t>> answers;
};
std::vector<RecordedGroup> recorded_sums();
std::vector<RecordedGroup> recorded_code();

}  // namespace hone::bench
