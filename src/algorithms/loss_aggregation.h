// How token losses become one loss: the weight of each token, with normalisers counted once over the whole optimizer
// batch, so that cutting it into micro-batches changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::algorithms {

enum class LossAggregation {
  token_mean,               // every token alike (DAPO)
  seq_mean_token_sum,       // every answer alike, its tokens summed
  seq_mean_token_mean,      // every answer alike, its tokens averaged (GRPO as published)
  seq_mean_token_sum_norm,  // tokens summed, divided by a constant (Dr. GRPO)
};
std::optional<LossAggregation> loss_aggregation(std::string_view name);
std::vector<std::string> loss_aggregation_names();

struct BatchCounts {
  int64_t tokens = 0;     // with loss, in the optimizer batch
  int64_t sequences = 0;  // with at least one such token
};

// Weight of each token of a sequence that has `sequence_tokens` tokens with loss. `scale_factor` is used by
// seq_mean_token_sum_norm alone.
double token_weight(LossAggregation mode, const BatchCounts& batch, int64_t sequence_tokens, double scale_factor);

}  // namespace hone::algorithms
