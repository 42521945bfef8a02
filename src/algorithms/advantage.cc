#include "algorithms/advantage.h"

#include <algorithm>

#include "algorithms/group_advantage.h"
#include "algorithms/return_advantage.h"

namespace hone::algorithms {

double RewardedAnswer::reward(int64_t token) const {
  const double beside = token_rewards.empty() ? 0.0 : double{token_rewards[static_cast<size_t>(token)]};
  return token == num_tokens - 1 ? beside + double{score.value_or(0.0f)} : beside;
}

double RewardedAnswer::total() const {
  double sum = score.value_or(0.0f);
  for (float reward : token_rewards) sum += double{reward};
  return sum;
}

namespace {
constexpr AdvantageEstimator kEstimators[] = {
    {.name = "grpo", .estimate = grpo, .compares = true},
    {.name = "grpo_vectorized", .estimate = grpo_vectorized, .compares = true},
    {.name = "grpo_passk", .estimate = grpo_passk, .compares = true},
    {.name = "rloo", .estimate = rloo, .compares = true},
    {.name = "rloo_vectorized", .estimate = rloo, .compares = true},
    {.name = "opo", .estimate = opo, .compares = true},
    {.name = "gpg", .estimate = gpg, .compares = true},
    {.name = "reinforce_plus_plus_baseline", .estimate = reinforce_plus_plus_baseline, .compares = true},
    {.name = "reinforce_plus_plus", .estimate = reinforce_plus_plus},
    {.name = "remax", .estimate = remax, .has_baseline = true},
    {.name = "gae", .estimate = gae, .has_values = true},
};
}  // namespace

std::span<const AdvantageEstimator> advantage_estimators() { return kEstimators; }

const AdvantageEstimator* find_advantage_estimator(std::string_view name) {
  const auto found = std::find_if(std::begin(kEstimators), std::end(kEstimators),
                                  [&](const AdvantageEstimator& e) { return e.name == name; });
  return found == std::end(kEstimators) ? nullptr : found;
}

}  // namespace hone::algorithms
