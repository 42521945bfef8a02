// Answer: what scorers judge.
#pragma once

#include <cstdint>
#include <string_view>

#include "records/trajectory.h"

namespace hone {

struct Answer {
  std::string_view data_source;
  std::string_view text;  // without special tokens
  std::string_view ground_truth;
  FinishReason finish = FinishReason::end;
  int64_t num_ids = 0;  // for the length term
  uint32_t sample = 0;  // index in its group
};

}  // namespace hone
