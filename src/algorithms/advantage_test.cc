// What every estimator promises, whatever its formula: absent scores stay absent, equal rewards teach nothing, options
// change what they belong to. Values are in tests/cases/advantages.json.
#include "algorithms/advantage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace hone::algorithms {
namespace {

RewardedAnswer answer_of(int64_t group, std::optional<float> score, int64_t tokens) {
  RewardedAnswer answer;
  answer.group = group;
  answer.score = score;
  answer.num_tokens = tokens;
  answer.values.assign(static_cast<size_t>(tokens), 0.25f);
  answer.baseline = 0.5f;
  return answer;
}

// Two groups of three.
std::vector<RewardedAnswer> answers_of_test() {
  return {answer_of(7, 1, 2), answer_of(7, 0, 5),  answer_of(7, 0.5f, 1),
          answer_of(9, 3, 4), answer_of(9, -1, 1), answer_of(9, -1, 3)};
}

// [answer][token]
std::vector<std::vector<float>> tokens_of(const std::vector<Advantage>& advantages,
                                          const std::vector<RewardedAnswer>& answers) {
  std::vector<std::vector<float>> all;
  for (size_t i = 0; i < answers.size(); ++i) {
    const Advantage& a = advantages[i];
    all.push_back(a.advantages.empty() ? std::vector<float>(static_cast<size_t>(answers[i].num_tokens), a.advantage)
                                       : a.advantages);
    EXPECT_EQ(all.back().size(), static_cast<size_t>(answers[i].num_tokens));
  }
  return all;
}

TEST(Advantages, OfAbsentAnswersAre0AndOthersAreAsIfTheyWereNotThere) {
  const std::vector<RewardedAnswer> answers = answers_of_test();
  std::vector<RewardedAnswer> more = answers;
  more.insert(more.begin() + 4, answer_of(9, std::nullopt, 6));
  more.insert(more.begin() + 1, answer_of(7, std::nullopt, 2));
  more.insert(more.begin(), answer_of(7, 100, 0));  // no token to learn from
  for (const AdvantageEstimator& estimator : advantage_estimators()) {
    auto expected = tokens_of(estimator.estimate(answers, {}), answers);
    auto found = tokens_of(estimator.estimate(more, {}), more);
    for (const size_t absent : {6u, 2u, 0u}) {
      for (float a : found[absent]) EXPECT_EQ(a, 0.0f) << estimator.name;
      found.erase(found.begin() + static_cast<std::ptrdiff_t>(absent));
    }
    EXPECT_EQ(found, expected) << estimator.name;
    for (const auto& answer : expected) {
      for (float a : answer) EXPECT_TRUE(std::isfinite(a)) << estimator.name;
    }
  }
}

TEST(Advantages, OfEqualRewardsAreExactly0WhereAnswersAreComparedOrWhitened) {
  for (const AdvantageEstimator& estimator : advantage_estimators()) {
    if (estimator.has_baseline || estimator.has_values) continue;
    for (float score : {0.0f, 1.0f, 0.1f, -7.3f}) {
      std::vector<RewardedAnswer> answers;
      for (int64_t i = 0; i < 14; ++i) answers.push_back(answer_of(i / 7, score, 1 + i % 5));
      for (const auto& tokens : tokens_of(estimator.estimate(answers, {}), answers)) {
        for (float a : tokens) EXPECT_EQ(a, 0.0f) << estimator.name << " " << score;
      }
    }
  }
}

TEST(Advantages, OfAFlatGroupBesideAnotherAre0WhereTheStepIsNotWhitened) {
  std::vector<RewardedAnswer> answers = answers_of_test();
  for (int64_t i = 0; i < 3; ++i) answers.push_back(answer_of(11, 0.75f, 1 + i));
  for (const AdvantageEstimator& estimator : advantage_estimators()) {
    if (!estimator.compares) continue;
    const auto tokens = tokens_of(estimator.estimate(answers, {}), answers);
    const bool whitens = estimator.name == "reinforce_plus_plus_baseline";
    for (size_t i = 6; i < 9; ++i) {
      for (const float a : tokens[i]) EXPECT_EQ(a != 0.0f, whitens) << estimator.name;
    }
    EXPECT_NE(tokens[0][0], 0.0f) << estimator.name;
  }
}

TEST(Advantages, OfOneScoreInAGroupAre0WhereAnswersAreCompared) {
  for (const AdvantageEstimator& estimator : advantage_estimators()) {
    if (!estimator.compares) continue;
    std::vector<RewardedAnswer> answers = answers_of_test();
    answers.push_back(answer_of(11, std::nullopt, 2));
    answers.push_back(answer_of(11, 5, 2));
    EXPECT_EQ(tokens_of(estimator.estimate(answers, {}), answers).back(), (std::vector<float>{0, 0})) << estimator.name;
  }
}

TEST(Advantages, OptionsChangeTheEstimatorsTheyBelongToAndNoOther) {
  const std::vector<RewardedAnswer> answers = answers_of_test();
  const std::pair<AdvantageOptions, std::vector<std::string_view>> cases[] = {
      {{.norm_by_std = false}, {"grpo", "grpo_vectorized", "grpo_passk"}},
      {{.gamma = 0.5}, {"reinforce_plus_plus", "gae"}},
      {{.lambda = 0.5}, {"gae"}},
  };
  for (const auto& [options, belongs] : cases) {
    for (const AdvantageEstimator& estimator : advantage_estimators()) {
      const bool changed = tokens_of(estimator.estimate(answers, options), answers) !=
                           tokens_of(estimator.estimate(answers, {}), answers);
      EXPECT_EQ(changed, std::count(belongs.begin(), belongs.end(), estimator.name) > 0) << estimator.name;
    }
  }
}

TEST(Advantages, EveryEstimatorLooksAtRewardsOfTokens) {
  const std::vector<RewardedAnswer> answers = answers_of_test();
  std::vector<RewardedAnswer> with_kl = answers;
  for (RewardedAnswer& answer : with_kl) {
    for (int64_t t = 0; t < answer.num_tokens; ++t) answer.token_rewards.push_back(-0.1f * static_cast<float>(t + 1));
  }
  for (const AdvantageEstimator& estimator : advantage_estimators()) {
    EXPECT_NE(tokens_of(estimator.estimate(with_kl, {}), answers), tokens_of(estimator.estimate(answers, {}), answers))
        << estimator.name;
  }
}

TEST(Advantages, NamesAreKnownOrNot) {
  EXPECT_EQ(find_advantage_estimator("rloo")->name, "rloo");
  EXPECT_EQ(find_advantage_estimator("grpo2"), nullptr);
  EXPECT_TRUE(find_advantage_estimator("gae")->has_values);
  EXPECT_TRUE(find_advantage_estimator("remax")->has_baseline);
  EXPECT_FALSE(find_advantage_estimator("reinforce_plus_plus")->compares);
}

}  // namespace
}  // namespace hone::algorithms
