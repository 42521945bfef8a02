#include "loop/evaluate.h"

#include <gtest/gtest.h>

#include <optional>

namespace hone {
namespace {

Prompt prompt_of(const std::string& source) {
  Prompt prompt;
  prompt.data_source = source;
  return prompt;
}

Trajectory answer(std::optional<float> score, std::vector<ScoreExtra> extras = {}, int64_t length = 2,
                  FinishReason finish = FinishReason::end) {
  Trajectory t;
  t.response_ids.resize(static_cast<size_t>(length));
  t.finish = finish;
  t.score = {score, "", std::move(extras)};
  return t;
}

Group group_of(const Prompt& prompt, std::vector<Trajectory> trajectories) {
  return {{&prompt, 0}, std::move(trajectories)};
}

Metrics report(std::vector<Group> groups, int64_t n) {
  Metrics metrics;
  summarise(std::move(groups), n).report(metrics, n);
  return metrics;
}

std::vector<std::string> names(const Metrics& metrics) {
  std::vector<std::string> result;
  for (const auto& [name, value] : metrics.values()) result.push_back(name);
  return result;
}

TEST(Evaluation, OfOneSampleHasVerlsNameOfTheMean) {
  const Prompt a = prompt_of("openai/gsm8k"), b = prompt_of("math");
  const Metrics m = report({group_of(a, {answer(1.0f)}), group_of(a, {answer(0.0f)}), group_of(b, {answer(0.5f)})}, 1);
  EXPECT_EQ(m.get("val-core/openai/gsm8k/reward/mean@1"), 0.5);
  EXPECT_EQ(m.get("val-core/math/reward/mean@1"), 0.5);
  EXPECT_EQ(names(m).size(), 8u) << "and length, clip ratio, absent scores of each source";
}

TEST(Evaluation, OfSeveralSamplesPutsTheLargestNumberInTheCoreAndTheRestBeside) {
  const Prompt a = prompt_of("s");
  const auto says = [](const char* text) { return std::vector<ScoreExtra>{{"pred", std::string(text)}}; };
  const Metrics m = report({group_of(a, {answer(1.0f, says("7")), answer(0.0f, says("8")), answer(1.0f, says("7")),
                                         answer(1.0f, says("7"))})},
                           4);
  const std::vector<std::string> expected{"val-core/s/reward/mean@4",
                                          "val-aux/s/reward/std@4",
                                          "val-aux/s/reward/best@2/mean",
                                          "val-aux/s/reward/best@2/std",
                                          "val-aux/s/reward/worst@2/mean",
                                          "val-aux/s/reward/worst@2/std",
                                          "val-aux/s/reward/maj@2/mean",
                                          "val-aux/s/reward/maj@2/std",
                                          "val-core/s/reward/best@4/mean",
                                          "val-core/s/reward/best@4/std",
                                          "val-aux/s/reward/worst@4/mean",
                                          "val-aux/s/reward/worst@4/std",
                                          "val-core/s/reward/maj@4/mean",
                                          "val-core/s/reward/maj@4/std",
                                          "val-aux/s/reward/pass@4",
                                          "val-aux/s/response_length/mean",
                                          "val-aux/s/response_length/clip_ratio",
                                          "val-aux/s/num_absent"};
  EXPECT_EQ(names(m), expected);
  EXPECT_EQ(m.get("val-core/s/reward/mean@4"), 0.75);
  EXPECT_GT(m.get("val-core/s/reward/maj@4/mean"), 0.75);
}

TEST(Evaluation, AccOfAScorerIsTheCoreVariable) {
  const Prompt a = prompt_of("s");
  const Metrics m = report({group_of(a, {answer(-1.0f, {{"acc", 0.0}, {"format", 1.0}})}),
                            group_of(a, {answer(1.0f, {{"acc", 1.0}, {"format", 1.0}})})},
                           1);
  EXPECT_EQ(m.get("val-core/s/acc/mean@1"), 0.5);
  EXPECT_EQ(m.get("val-aux/s/reward/mean@1"), 0.0);
  EXPECT_EQ(m.get("val-aux/s/format/mean@1"), 1.0);
}

TEST(Evaluation, WhatAScorerCallsRewardIsNotMixedIntoTheReward) {
  const Prompt a = prompt_of("s");
  const Metrics m = report({group_of(a, {answer(1.0f, {{"reward", 5.0}}), answer(0.0f, {{"reward", 7.0}})})}, 2);
  EXPECT_EQ(m.get("val-core/s/reward/mean@2"), 0.5);
  EXPECT_EQ(m.get("val-aux/s/reward/pass@2"), 1.0);
  EXPECT_EQ(m.get("val-aux/s/extra_reward/mean@2"), 6.0);
}

TEST(Evaluation, AnAbsentScoreIsNoScoreAndAPromptWithoutAnyIsLeftOut) {
  const Prompt a = prompt_of("s");
  const Evaluation e = summarise(
      {group_of(a, {answer(1.0f), answer(std::nullopt)}), group_of(a, {answer(std::nullopt), answer(std::nullopt)})},
      2);
  ASSERT_EQ(e.sources.size(), 1u);
  EXPECT_EQ(e.sources[0].mean, 1.0);
  EXPECT_EQ(e.sources[0].pass, (std::vector<std::pair<int64_t, double>>{{1, 1.0}, {2, 1.0}}));
  EXPECT_EQ(e.sources[0].num_prompts, 2);
  EXPECT_EQ(e.sources[0].num_scored, 1);
  EXPECT_EQ(e.sources[0].num_absent, 3);
  EXPECT_EQ(e.mean(), 1.0);
  const Metrics m = report({group_of(a, {answer(std::nullopt)})}, 1);
  EXPECT_FALSE(m.has("val-core/s/reward/mean@1"));
  EXPECT_EQ(m.get("val-aux/s/num_absent"), 1.0);
}

TEST(Evaluation, PassAtKIsWithoutBiasAndTheIntervalIsOverPrompts) {
  const Prompt a = prompt_of("s");
  const Evaluation e = summarise({group_of(a, {answer(1.0f), answer(0.0f), answer(0.0f), answer(0.0f)}),
                                  group_of(a, {answer(1.0f), answer(1.0f), answer(0.0f), answer(0.0f)}),
                                  group_of(a, {answer(0.0f), answer(0.0f), answer(0.0f), answer(0.0f)})},
                                 4);
  const SourceScores& source = e.sources.at(0);
  ASSERT_EQ(source.pass.size(), 3u);
  EXPECT_EQ(source.pass[0].first, 1);
  EXPECT_NEAR(source.pass[0].second, (0.25 + 0.5 + 0) / 3, 1e-12);
  EXPECT_EQ(source.pass[1].first, 2);
  EXPECT_NEAR(source.pass[1].second, (1.0 / 2 + 5.0 / 6 + 0) / 3, 1e-12);
  EXPECT_EQ(source.pass[2].first, 4);
  EXPECT_NEAR(source.pass[2].second, 2.0 / 3, 1e-12);
  const Interval expected = mean_interval(std::vector<double>{0.25, 0.5, 0});
  EXPECT_EQ(source.mean_interval.low, expected.low);
  EXPECT_EQ(source.mean_interval.high, expected.high);
}

TEST(Evaluation, LengthsAreThoseOfTheirSource) {
  const Prompt a = prompt_of("a"), b = prompt_of("b");
  const Metrics m = report({group_of(a, {answer(1.0f, {}, 10, FinishReason::length)}),
                            group_of(a, {answer(1.0f, {}, 4)}), group_of(b, {answer(1.0f, {}, 3)})},
                           1);
  EXPECT_EQ(m.get("val-aux/a/response_length/mean"), 7);
  EXPECT_EQ(m.get("val-aux/a/response_length/clip_ratio"), 0.5);
  EXPECT_EQ(m.get("val-aux/b/response_length/mean"), 3);
  EXPECT_EQ(m.get("val-aux/b/response_length/clip_ratio"), 0);
}

}  // namespace
}  // namespace hone
