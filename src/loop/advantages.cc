#include "loop/advantages.h"

#include <algorithm>

#include "algorithms/group_advantage.h"
#include "core/error.h"

namespace hone {

namespace {

// Of all ids those with loss.
std::vector<float> of_tokens(const std::vector<float>& by_id, const Trajectory& t) {
  if (by_id.empty() || t.loss_mask.empty()) return by_id;
  std::vector<float> result;
  for (size_t i = 0; i < by_id.size(); ++i) {
    if (t.has_loss(i)) result.push_back(by_id[i]);
  }
  return result;
}

algorithms::RewardedAnswer rewarded_answer(const Trajectory& t, int64_t group, std::optional<float> baseline) {
  algorithms::RewardedAnswer answer;
  answer.group = group;
  answer.baseline = baseline;
  answer.token_rewards = of_tokens(t.token_rewards, t);
  answer.values = of_tokens(t.values, t);
  answer.score = t.reward;
  answer.num_tokens = t.num_loss();
  return answer;
}

// Numbers of tokens with loss to their places among all ids.
std::vector<float> by_id(const std::vector<float>& of_tokens, const Trajectory& t) {
  if (of_tokens.empty() || t.loss_mask.empty()) return of_tokens;
  std::vector<float> result(t.response_ids.size());
  size_t next = 0;
  for (size_t i = 0; i < result.size(); ++i) {
    if (t.has_loss(i)) result[i] = of_tokens[next++];
  }
  HONE_CHECK(next == of_tokens.size(), "{} numbers for {} tokens with loss", of_tokens.size(), next);
  return result;
}

bool is_zero(const algorithms::Advantage& a) {
  return a.advantages.empty()
             ? a.advantage == 0.0f
             : std::all_of(a.advantages.begin(), a.advantages.end(), [](float x) { return x == 0.0f; });
}

// Flat: no answer of the group has an advantage. Lone: there is nothing to compare with.
void count_groups(std::span<const algorithms::RewardedAnswer> answers,
                  std::span<const algorithms::Advantage> advantages, bool compares, Metrics& metrics) {
  int64_t num_flat = 0, num_lone = 0;
  const std::vector<algorithms::GroupRange> ranges = algorithms::group_ranges(answers);
  for (const algorithms::GroupRange& range : ranges) {
    int64_t present = 0;
    bool flat = true;
    for (size_t i = range.begin; i < range.end; ++i) {
      present += answers[i].takes_part();
      flat = flat && is_zero(advantages[i]);
    }
    num_flat += flat && present > 0;
    num_lone += compares && present < 2;
  }
  metrics.set("training/flat_group_ratio", static_cast<double>(num_flat) / static_cast<double>(ranges.size()));
  metrics.set("training/num_lone_groups", static_cast<double>(num_lone));
}

}  // namespace

void set_advantages(std::span<Group> groups, const algorithms::AdvantageEstimator& estimator,
                    const algorithms::AdvantageOptions& options, Metrics& metrics) {
  std::vector<algorithms::RewardedAnswer> answers;
  std::vector<Trajectory*> places;
  int64_t num_absent = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (Trajectory& t : groups[g].trajectories) {
      answers.push_back(rewarded_answer(t, static_cast<int64_t>(g), groups[g].baseline));
      places.push_back(&t);
      num_absent += !t.score.value.has_value();
    }
  }
  const std::vector<algorithms::Advantage> advantages = estimator.estimate(answers, options);
  for (size_t i = 0; i < places.size(); ++i) {
    places[i]->advantage = advantages[i].advantage;
    places[i]->advantages = by_id(advantages[i].advantages, *places[i]);
    places[i]->returns = by_id(advantages[i].returns, *places[i]);
  }
  metrics.set("training/num_absent_scores", static_cast<double>(num_absent));
  count_groups(answers, advantages, estimator.compares, metrics);
}

}  // namespace hone
