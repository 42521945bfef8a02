// UnfinishedGroup: a draw that was taken back before all of its samples had ended, with all that is needed to go on.
// Keys and values do not travel: whoever goes on computes them again, with the weights of that day.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "records/trajectory.h"

namespace hone {

// What has been drawn of a sample so far; nothing when it was still waiting.
struct UnfinishedSample {
  std::vector<int32_t> response_ids;
  std::vector<float> logprobs;         // one for each response id
  std::vector<int32_t> versions;       // policy version that drew each response id
  std::optional<FinishReason> finish;  // of a sample that has ended: it waits for the others of its group
  bool operator==(const UnfinishedSample&) const = default;
};

struct UnfinishedGroup {
  DrawnPrompt drawn;
  float temperature = 1.0f;               // of the ids drawn so far
  std::vector<UnfinishedSample> samples;  // all of the group, in the order of `sample`
};

}  // namespace hone
