// Policy losses of one token and their derivative by its log-probability: a table by name (policy_loss.loss_mode).
// Aggregation is apart (loss_aggregation.h). d = logprob - old_logprob held in +-20, r = exp(d), A = advantage, w = the
// importance weight of a correction; what a loss takes as constant (sg) has no derivative.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/loss_aggregation.h"
#include "core/random.h"
#include "records/train_sequence.h"

namespace hone::algorithms {

struct ClipRange {
  float low = 0.2f;   // ratio is held above 1 - low
  float high = 0.2f;  // and below 1 + high (clip-higher when larger than low: DAPO, Yu et al. 2025)
  float c = 3.0f;     // dual clip for negative advantages (Ye et al. 2020), above 1
};

struct PolicyLossOptions {
  ClipRange clip;
  double tau_pos = 1.0, tau_neg = 1.05;                              // sapo
  double clip_cov_ratio = 0.0002, clip_cov_lb = 1, clip_cov_ub = 5;  // clip_cov
  double kl_cov_ratio = 0.0002, ppo_kl_coef = 0.1;                   // kl_cov
};

struct PolicyToken {
  float logprob = 0;
  float old_logprob = 0;
  float advantage = 0;
  float weight = 1;
  double coefficient = 0;  // of the loss's `coefficients`
};

struct TokenLoss {
  double loss = 0;
  double dlogprob = 0;         // d loss / d logprob
  bool clipped = false;        // counts in pg_clipfrac
  bool clipped_lower = false;  // and in pg_clipfrac_lower
};

// What a loss has to know of a token beyond the token itself: one number each, [sequence][response id].
using Coefficients = std::vector<std::vector<double>>;
using SequenceLogprobs = std::span<const std::vector<float>>;  // [sequence][response id], as Trainer::score gives them

using TokenLossOf = TokenLoss(const PolicyToken& token, const PolicyLossOptions& options);
// What is drawn is a function of `key` and `draw`.
using CoefficientsOf = Coefficients(std::span<const TrainSequence> sequences, SequenceLogprobs logprobs,
                                    const PolicyLossOptions& options, RandomKey key, uint64_t draw);

struct PolicyLoss {
  std::string_view name;
  TokenLossOf* token;
  // Of losses whose coefficients need log-probs first; those of a sequence follow from that sequence alone unless
  // `whole_batch`.
  CoefficientsOf* coefficients = nullptr;
  bool whole_batch = false;                         // the coefficients need every sequence of the optimizer batch
  std::optional<LossAggregation> aggregation = {};  // the only one it is defined for
  bool teaches_without_advantage = false;           // the gradient may be other than 0 where A = 0
  bool clips = false;                               // looks at ClipRange's low and high
  bool dual_clips = false;                          // and at its c
};
std::span<const PolicyLoss> policy_losses();
const PolicyLoss* find_policy_loss(std::string_view name);

// vanilla. PPO's clipped surrogate (Schulman et al. 2017, equation 7) with dual clip: max(-A r, -A clip(r)), for A < 0
// at most -A c.
TokenLoss clipped_policy_loss(float logprob, float old_logprob, float advantage, const ClipRange& clip);

}  // namespace hone::algorithms
