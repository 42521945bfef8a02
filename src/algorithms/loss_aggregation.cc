#include "algorithms/loss_aggregation.h"

#include <utility>

namespace hone::algorithms {

namespace {

constexpr std::pair<const char*, LossAggregation> kAggregations[] = {
    {"token-mean", LossAggregation::token_mean},
    {"seq-mean-token-sum", LossAggregation::seq_mean_token_sum},
    {"seq-mean-token-mean", LossAggregation::seq_mean_token_mean},
    {"seq-mean-token-sum-norm", LossAggregation::seq_mean_token_sum_norm},
};

}  // namespace

std::optional<LossAggregation> loss_aggregation(std::string_view name) {
  for (const auto& [known, mode] : kAggregations) {
    if (name == known) return mode;
  }
  return std::nullopt;
}

std::vector<std::string> loss_aggregation_names() {
  std::vector<std::string> names;
  for (const auto& [name, mode] : kAggregations) names.emplace_back(name);
  return names;
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
