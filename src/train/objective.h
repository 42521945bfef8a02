// Objective: what a token contributes to the loss and the gradient by its log-prob and entropy. A named setting of
// pure functions; the trainer knows nothing else of the algorithm.
#pragma once

#include "algorithms/loss_aggregation.h"
#include "algorithms/policy_loss.h"

namespace hone {

struct Objective {
  enum class Kind { sft, policy } kind = Kind::sft;
  algorithms::ClipRange clip;
  algorithms::LossAggregation aggregation = algorithms::LossAggregation::token_mean;
  double loss_scale_factor = 1.0;  // seq-mean-token-sum-norm
  double entropy_coeff = 0.0;      // what is minimised: loss - entropy_coeff * aggregated entropy
};

struct ObjectiveRow {
  double loss = 0;          // weighted, without the entropy's term
  double entropy_loss = 0;  // that term, weighted
  float dlogprob = 0;       // gradients of the sum
  float dentropy = 0;
  bool clipped = false, clipped_lower = false;
};

// sft: -logprob. policy: clipped surrogate against old_logprob. `weight` is the token's, from token_weight.
inline ObjectiveRow objective_row(const Objective& objective, float logprob, float entropy, float old_logprob,
                                  float advantage, double weight) {
  ObjectiveRow row;
  if (objective.kind == Objective::Kind::sft) {
    row.loss = -weight * double{logprob};
    row.dlogprob = static_cast<float>(-weight);
  } else {
    const auto token = algorithms::clipped_policy_loss(logprob, old_logprob, advantage, objective.clip);
    row.loss = weight * token.loss;
    row.dlogprob = static_cast<float>(weight * token.dlogprob);
    row.clipped = token.clipped;
    row.clipped_lower = token.clipped_lower;
  }
  row.entropy_loss = -objective.entropy_coeff * weight * double{entropy};
  row.dentropy = static_cast<float>(-objective.entropy_coeff * weight);
  return row;
}

}  // namespace hone
