// Policy losses that hold back the tokens whose log-prob and advantage vary together most, for these lower the entropy
// (Cui et al. 2025, "The entropy mechanism of reinforcement learning for reasoning language models").
// cov = (A - mean A) (logprob - mean logprob), means over all tokens with loss of the optimizer batch.
#pragma once

#include "algorithms/policy_loss.h"

namespace hone::algorithms {

// max(-A r, -A clip(r)), but 0 for some tokens (coefficient 1): of those that are not clipped and have clip_cov_lb <
// cov < clip_cov_ub so many are drawn as max(floor(clip_cov_ratio * tokens), 1), or all if there are fewer.
CoefficientsOf drawn_by_covariance;
TokenLossOf clip_cov_token;

// -A r, and for the max(floor(kl_cov_ratio * tokens), 1) tokens of the largest cov (coefficient 1) + ppo_kl_coef |d|.
CoefficientsOf largest_covariance;
TokenLossOf kl_cov_token;

}  // namespace hone::algorithms
