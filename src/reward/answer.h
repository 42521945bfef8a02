// Answer: what scorers judge.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "records/trajectory.h"

namespace hone {

struct Answer {
  std::string_view data_source;
  std::string_view text;  // without special tokens
  std::string_view ground_truth;
  FinishReason finish = FinishReason::end;
  std::optional<int64_t> num_ids = {};  // where they are known: for the length term
  uint32_t sample = 0;                  // index in its group
};

}  // namespace hone
