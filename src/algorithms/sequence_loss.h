// Policy losses whose ratio is that of a whole answer: the coefficient of its tokens follows from its log-probs. Both
// are means over answers of means over tokens.
#pragma once

#include "algorithms/policy_loss.h"

namespace hone::algorithms {

// Zheng et al. 2025, GSPO, in the form with a ratio for each token (GSPO-token): log ratio logprob - sg(logprob) +
// sg(s), at most 10, where s = mean of d over the answer; max(-A r, -A clip(r)). The coefficient is s.
CoefficientsOf mean_log_ratios;
TokenLossOf gspo_token;

// Zhao et al. 2025, GMPO: -A' exp(mean of sgn(A) min(sgn(A) d, sgn(A) clamp(d, -low, high)) over the answer), where A'
// is the mean of A and the clip range is one of log ratios. Weights enter as their geometric mean. The coefficient is
// the loss of the answer.
CoefficientsOf geometric_means;
TokenLossOf geo_mean_token;

}  // namespace hone::algorithms
