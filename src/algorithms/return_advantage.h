// Estimators that look at returns, token by token. r_t = reward at a token (the score at the last one), whiten(x) =
// (x - mean) / sqrt(var + 1e-8) over all tokens of all answers that take part, with the unbiased variance; fewer than
// two tokens whiten to 0, and equal ones to exactly 0.
#pragma once

#include "algorithms/advantage.h"

namespace hone::algorithms {

// whiten(G), G_t = r_t + gamma G_{t+1}: Hu 2025, REINFORCE++.
Estimate reinforce_plus_plus;
// whiten(s - mean) of total rewards s, the mean being the group's. A lone answer of a group takes no part.
Estimate reinforce_plus_plus_baseline;
// G_t - baseline with gamma = 1: Li et al. 2023, ReMax.
Estimate remax;
// whiten(A), A_t = d_t + gamma lambda A_{t+1}, d_t = r_t + gamma V_{t+1} - V_t; returns A + V before whitening:
// Schulman et al. 2016.
Estimate gae;

}  // namespace hone::algorithms
