// Advantages: how much better an answer was than what it is compared with. A table of estimators by name
// (algorithm.adv_estimator), each a pure function of all answers of a step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hone::algorithms {

// What an estimator sees of an answer: its tokens with loss alone. Those of tools stand between them without a place in
// time: they are skipped, not discounted.
struct RewardedAnswer {
  int64_t group = 0;                 // answers to one draw have one number and stand together
  std::optional<float> score;        // reward at the last token; absent: the answer takes no part
  int64_t num_tokens = 0;            // 0: the answer takes no part
  std::vector<float> token_rewards;  // [tokens] beside the score, as of KL in the reward; empty: none
  std::vector<float> values;         // [tokens] a critic's: gae
  std::optional<float> baseline;  // score of the greedy answer to the prompt, remax; absent: the answer takes no part

  bool takes_part() const { return score.has_value() && num_tokens > 0; }
  double reward(int64_t token) const;  // at one token
  double total() const;                // of all tokens
};

// Of one answer; all 0 where it takes no part.
struct Advantage {
  float advantage = 0;            // of every token
  std::vector<float> advantages;  // [tokens] where they differ, else empty
  std::vector<float> returns;     // [tokens] where they are not the advantages, else empty
};

struct AdvantageOptions {
  bool norm_by_std = true;       // grpo, grpo_vectorized, grpo_passk
  double gamma = 1, lambda = 1;  // gae; gamma: reinforce_plus_plus
};

// Answers come in the order of their groups; the result is in that order.
using Estimate = std::vector<Advantage>(std::span<const RewardedAnswer> answers, const AdvantageOptions& options);
struct AdvantageEstimator {
  std::string_view name;
  Estimate* estimate;
  bool compares = false;      // the answers of a group: fewer than two teach nothing
  bool has_baseline = false;  // needs RewardedAnswer::baseline
  bool has_values = false;    // needs RewardedAnswer::values
};
std::span<const AdvantageEstimator> advantage_estimators();
const AdvantageEstimator* find_advantage_estimator(std::string_view name);

}  // namespace hone::algorithms
