#include "algorithms/loss_aggregation.h"

namespace hone::algorithms {

std::optional<LossAggregation> loss_aggregation(std::string_view name) {
  if (name == "token-mean") return LossAggregation::token_mean;
  if (name == "seq-mean-token-sum") return LossAggregation::seq_mean_token_sum;
  if (name == "seq-mean-token-mean") return LossAggregation::seq_mean_token_mean;
  if (name == "seq-mean-token-sum-norm") return LossAggregation::seq_mean_token_sum_norm;
  return std::nullopt;
}

double token_weight(LossAggregation mode, const BatchCounts& batch, int64_t sequence_tokens, double scale_factor) {
  if (sequence_tokens == 0) return 0.0;
  const auto sequences = static_cast<double>(batch.sequences);
  switch (mode) {
    case LossAggregation::token_mean:
      return 1.0 / static_cast<double>(batch.tokens);
    case LossAggregation::seq_mean_token_sum:
      return 1.0 / sequences;
    case LossAggregation::seq_mean_token_mean:
      return 1.0 / (sequences * static_cast<double>(sequence_tokens));
    case LossAggregation::seq_mean_token_sum_norm:
      return 1.0 / scale_factor;
  }
  return 0.0;
}

}  // namespace hone::algorithms
