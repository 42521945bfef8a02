#include "algorithms/off_policy.h"

#include <algorithm>
#include <cmath>

#include "core/fixed_math.h"

namespace hone::algorithms {

OffPolicy off_policy(std::span<const RatioRow> rows) {
  OffPolicy sum;
  double tokens = 0, with_tokens = 0;
  sum.log_ppl_diff_max = -HUGE_VAL;
  sum.log_ppl_diff_min = HUGE_VAL;
  for (const RatioRow& row : rows) {
    double count = 0, training = 0, rollout = 0;
    row.for_tokens([&](size_t t) {
      const double lr = row.log_ratio(t);
      count += 1;
      training += double{row.logprobs[t]};
      rollout += double{row.rollout_logprobs[t]};
      sum.kl += double{row.rollout_logprobs[t]} - double{row.logprobs[t]};
      sum.k3_kl += fixed::exp(lr) - lr - 1.0;
      sum.chi2_token += fixed::exp(2.0 * lr) - 1.0;
    });
    if (count == 0) continue;
    tokens += count;
    with_tokens += 1;
    const double difference = (rollout - training) / count;
    sum.training_log_ppl -= training / count;
    sum.rollout_log_ppl -= rollout / count;
    sum.training_ppl += fixed::exp(-training / count);
    sum.rollout_ppl += fixed::exp(-rollout / count);
    sum.log_ppl_diff += difference;
    sum.log_ppl_abs_diff += std::abs(difference);
    sum.log_ppl_diff_max = std::max(sum.log_ppl_diff_max, difference);
    sum.log_ppl_diff_min = std::min(sum.log_ppl_diff_min, difference);
    sum.ppl_ratio += fixed::exp(difference);
    sum.chi2_seq += fixed::exp(2.0 * RatioRow::held(training - rollout)) - 1.0;
  }
  if (with_tokens == 0) return {};
  for (double* mean : {&sum.kl, &sum.k3_kl, &sum.chi2_token}) *mean /= tokens;
  for (double* mean : {&sum.training_ppl, &sum.training_log_ppl, &sum.rollout_ppl, &sum.rollout_log_ppl,
                       &sum.log_ppl_diff, &sum.log_ppl_abs_diff, &sum.ppl_ratio, &sum.chi2_seq}) {
    *mean /= with_tokens;
  }
  return sum;
}

std::vector<std::pair<std::string_view, double>> named(const OffPolicy& o) {
  return {{"kl", o.kl},
          {"k3_kl", o.k3_kl},
          {"training_ppl", o.training_ppl},
          {"training_log_ppl", o.training_log_ppl},
          {"rollout_ppl", o.rollout_ppl},
          {"rollout_log_ppl", o.rollout_log_ppl},
          {"log_ppl_diff", o.log_ppl_diff},
          {"log_ppl_abs_diff", o.log_ppl_abs_diff},
          {"log_ppl_diff_max", o.log_ppl_diff_max},
          {"log_ppl_diff_min", o.log_ppl_diff_min},
          {"ppl_ratio", o.ppl_ratio},
          {"chi2_token", o.chi2_token},
          {"chi2_seq", o.chi2_seq}};
}

}  // namespace hone::algorithms
