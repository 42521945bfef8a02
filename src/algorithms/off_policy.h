// How far the policy that is trained is from the one that drew (metrics rollout_corr/*).
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/ratio_row.h"

namespace hone::algorithms {

// Means are over tokens with loss, or over rows that have one; log_ppl of a row is minus its mean log-prob.
struct OffPolicy {
  double kl = 0;     // mean of rollout_logprob - logprob
  double k3_kl = 0;  // mean of exp(lr) - lr - 1
  double training_ppl = 0, training_log_ppl = 0, rollout_ppl = 0, rollout_log_ppl = 0;
  // of mean rollout_logprob - mean logprob, row by row
  double log_ppl_diff = 0, log_ppl_abs_diff = 0, log_ppl_diff_max = 0, log_ppl_diff_min = 0;
  double ppl_ratio = 0;   // mean of exp(that)
  double chi2_token = 0;  // mean of exp(2 lr) - 1
  double chi2_seq = 0;    // mean of exp(2 sum of lr) - 1
};
OffPolicy off_policy(std::span<const RatioRow> rows);

// Its numbers under verl's names.
std::vector<std::pair<std::string_view, double>> named(const OffPolicy& distances);

}  // namespace hone::algorithms
