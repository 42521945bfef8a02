// Objective: what a token contributes to the loss and the gradient by its log-prob and entropy. A named setting of
// pure functions; the trainer knows nothing else of the algorithm. What is minimised is
//   loss + entropy's term + KL's term, each aggregated over the optimizer batch.
#pragma once

#include <optional>

#include "algorithms/kl.h"
#include "algorithms/loss_aggregation.h"
#include "algorithms/policy_loss.h"
#include "algorithms/rollout_correction.h"

namespace hone {

struct Objective {
  const algorithms::PolicyLoss* policy = nullptr;  // none: SFT, or the loss of a critic where the head is a value
  algorithms::PolicyLossOptions options;
  algorithms::LossAggregation aggregation = algorithms::LossAggregation::token_mean;
  double loss_scale_factor = 1.0;  // seq-mean-token-sum-norm
  double entropy_coeff = 0.0;      // the entropy's term: -entropy_coeff * aggregated entropy
  // The KL's term: kl_coef * aggregated estimate against ref_logprobs; nothing: there is none.
  std::optional<algorithms::KlEstimator> kl = {};
  double kl_coef = 0.0;
  // Bypass mode: the correction is one of the log-probs of the update itself against the sampled ones, and weights
  // count in place of ratios.
  std::optional<algorithms::RolloutCorrection> correction = {};
  uint64_t seed = 0;             // of what a loss draws
  double cliprange_value = 0.5;  // of a critic: how far a value may move in a step

  bool is_policy() const { return policy != nullptr; }
  // The entropy and the KL go by `aggregation`, a policy loss by its own if it has one.
  algorithms::LossAggregation policy_aggregation() const {
    return is_policy() ? policy->aggregation.value_or(aggregation) : aggregation;
  }
};

// Of a token in an aggregated number (token_weight).
struct TokenWeights {
  double policy = 0;  // the loss
  double rest = 0;    // entropy and KL
};

struct ObjectiveToken {
  algorithms::PolicyToken policy;
  float rollout_logprob = 0;  // of the policy that drew it; for people
  float entropy = 0;
  float ref_logprob = 0;
};

struct ObjectiveRow {
  double loss = 0;          // weighted
  double entropy_loss = 0;  // its term, weighted
  double kl = 0;            // weighted, without kl_coef
  float dlogprob = 0;       // gradients of the sum of the terms
  float dentropy = 0;
  bool clipped = false, clipped_lower = false;
};

// The named loss; without one -logprob.
inline ObjectiveRow objective_row(const Objective& objective, const ObjectiveToken& token,
                                  const TokenWeights& weights) {
  ObjectiveRow row;
  double dlogprob = -weights.policy;
  if (!objective.is_policy()) {
    row.loss = dlogprob * double{token.policy.logprob};
  } else {
    const algorithms::TokenLoss loss = objective.policy->token(token.policy, objective.options);
    row.loss = weights.policy * loss.loss;
    dlogprob = weights.policy * loss.dlogprob;
    row.clipped = loss.clipped;
    row.clipped_lower = loss.clipped_lower;
  }
  if (objective.kl) {
    const algorithms::TokenKl kl = algorithms::token_kl(*objective.kl, token.policy.logprob, token.ref_logprob);
    row.kl = weights.rest * kl.value;
    dlogprob += objective.kl_coef * weights.rest * kl.dlogprob;
  }
  row.dlogprob = static_cast<float>(dlogprob);
  row.entropy_loss = -objective.entropy_coeff * weights.rest * double{token.entropy};
  row.dentropy = static_cast<float>(-objective.entropy_coeff * weights.rest);
  return row;
}

}  // namespace hone
