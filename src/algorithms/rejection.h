// Rejection: what leaves tokens or whole answers out whose log-probs have moved (rollout_rs). What is on policy is
// never rejected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/ratio_row.h"

namespace hone::algorithms {

// A criterion keeps what has low <= statistic <= high. Over tokens: k1 = -lr, k2 = lr^2 / 2, k3 = exp(lr) - 1 - lr. A
// token criterion rejects tokens, the others whole answers by the sum, mean or maximum over their tokens.
struct Rejection {
  enum class Scope { token, seq_sum, seq_mean, seq_max } scope = Scope::token;
  enum class Statistic { k1, k2, k3 } statistic = Statistic::k1;
  double low = 0, high = 0;
};

// rollout_rs and rollout_rs_threshold, lists with commas; one threshold stands for all. "low_high" or one number u
// bound k1: log(low) <= k1 <= log(high), u means 1/u_u (so it is the ratio rollout/train that is bounded); k2 and k3
// take one upper bound. Gives what is wrong, or nothing.
std::string parse_rejections(std::string_view criteria, std::string_view thresholds, std::vector<Rejection>& out);

// Takes out of `mask`, the row's own with a number for every token, what the criterion rejects.
void reject(const Rejection& rejection, const RatioRow& row, std::vector<uint8_t>& mask);

}  // namespace hone::algorithms
