// TrainSequence: what the trainer sees of an answer (or of an SFT example): ids, where the loss starts, and what the
// policy that sampled it said.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hone {

struct TrainSequence {
  std::vector<int32_t> ids;             // prompt, then response
  int64_t num_prompt = 0;               // ids before the first one with loss; at least 1
  std::vector<uint8_t> loss_mask;       // [response], 1: with loss; empty: all of them
  std::vector<float> old_logprobs;      // [response]; empty for SFT
  std::vector<float> rollout_logprobs;  // [response] of the policies that drew; empty: the old ones
  float advantage = 0;
  std::vector<float> advantages;    // [response]; empty: `advantage` is that of each
  std::vector<float> weights;       // [response] importance weights of a rollout correction; empty: 1
  std::vector<float> ref_logprobs;  // [response] of the reference policy; empty without a KL loss
  float temperature = 1.0f;
  std::vector<float> values, returns;  // [response] of a critic: what it said when the step began, what it is to say

  int64_t num_response() const { return static_cast<int64_t>(ids.size()) - num_prompt; }
  int64_t num_loss() const {
    return loss_mask.empty() ? num_response() : std::count(loss_mask.begin(), loss_mask.end(), uint8_t{1});
  }
  bool has_loss(int64_t response_index) const {
    return loss_mask.empty() || loss_mask[static_cast<size_t>(response_index)] != 0;
  }
  float advantage_at(int64_t response_index) const {
    return advantages.empty() ? advantage : advantages[static_cast<size_t>(response_index)];
  }
  float weight_at(int64_t response_index) const {
    return weights.empty() ? 1.0f : weights[static_cast<size_t>(response_index)];
  }
  int64_t num_rows() const { return static_cast<int64_t>(ids.size()) - 1; }  // the last id is only a target
};

}  // namespace hone
