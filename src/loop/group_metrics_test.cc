#include "loop/group_metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loop/advantages.h"
#include "loop/group_sequences.h"
#include "reward/scorer.h"

namespace hone {
namespace {

using Scores = std::vector<std::optional<float>>;

Group group_scored(const Prompt& prompt, const Scores& scores) {
  Group group{{&prompt, 0}, {}};
  for (const auto& score : scores) {
    Trajectory t;
    t.sample = static_cast<uint32_t>(group.trajectories.size());
    t.prompt_ids = {1, 2, 3};
    t.response_ids = {4, 5};
    t.logprobs = {-1.0f, -1.0f};
    t.finish = FinishReason::end;
    t.score = {score, score ? "" : "the scorer gave nan"};
    t.reward = score;
    group.trajectories.push_back(std::move(t));
  }
  return group;
}

std::vector<float> advantages(const Group& group) {
  std::vector<float> result;
  for (const Trajectory& t : group.trajectories) result.push_back(t.advantage);
  return result;
}

const Prompt kPrompt{
    .ids = {1, 2, 3}, .text = "", .data_source = "", .ground_truth = "", .file = "data.jsonl", .line = 7};

TEST(GroupMetrics, TheOneScoreOfAGroupThatIsLeftHasAdvantageZeroAndIsCounted) {
  std::vector<Group> groups{group_scored(kPrompt, {std::nullopt, 1.0f, std::nullopt, std::nullopt}),
                            group_scored(kPrompt, {0.0f, 1.0f, 0.0f, 1.0f})};
  Metrics metrics;
  set_advantages(groups, *algorithms::find_advantage_estimator("grpo"), {}, metrics);
  EXPECT_EQ(advantages(groups[0]), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_GT(groups[1].trajectories[1].advantage, 0.5f);
  EXPECT_EQ(metrics.get("training/num_absent_scores"), 3);
  EXPECT_EQ(metrics.get("training/num_lone_groups"), 1);
  std::vector<TrainSequence> sequences;
  for (const Group& group : groups) append_sequences(group, sequences);
  EXPECT_EQ(sequences.size(), 5u) << "absent ones take no part";
}

double flat_share(std::vector<Group> groups, const char* estimator) {
  Metrics metrics;
  set_advantages(groups, *algorithms::find_advantage_estimator(estimator), {}, metrics);
  return metrics.get("training/flat_group_ratio");
}

TEST(GroupMetrics, AGroupIsFlatWhereNoneOfItsAnswersHasAnAdvantage) {
  const std::vector<Group> mixed{group_scored(kPrompt, {1.0f, 1.0f}), group_scored(kPrompt, {0.0f, 1.0f})};
  EXPECT_EQ(flat_share(mixed, "grpo"), 0.5);
  EXPECT_EQ(flat_share({group_scored(kPrompt, {1.0f}), group_scored(kPrompt, {0.0f})}, "reinforce_plus_plus"), 0)
      << "groups of one are compared over the step";
  std::vector<Group> uneven = mixed;
  uneven[1].trajectories[0].response_ids.push_back(6);
  EXPECT_EQ(flat_share(uneven, "reinforce_plus_plus_baseline"), 0) << "whitening moves the mean of its tokens off 0";
  EXPECT_EQ(flat_share({mixed[0], mixed[0]}, "reinforce_plus_plus_baseline"), 1);
}

TEST(GroupMetrics, WhatIsRejectedWholeIsNotThereToCompareWith) {
  std::vector<Group> groups{group_scored(kPrompt, {0.0f, 1.0f})};
  groups[0].trajectories[1].loss_mask = {0, 0};
  Metrics metrics;
  set_advantages(groups, *algorithms::find_advantage_estimator("grpo"), {}, metrics);
  EXPECT_EQ(metrics.get("training/num_lone_groups"), 1);
  EXPECT_EQ(metrics.get("training/flat_group_ratio"), 1);
}

TEST(GroupMetrics, NaNOfAScorerIsAbsentAndEverythingElseStaysFinite) {
  std::vector<Group> groups{group_scored(kPrompt, {1.0f, 0.0f, 0.0f})};
  Score& score = groups[0].trajectories[1].score;
  score = finite_or_absent({std::nanf(""), "", {}});
  EXPECT_FALSE(score.value.has_value());
  Metrics metrics;
  set_advantages(groups, *algorithms::find_advantage_estimator("grpo"), {}, metrics);
  report_groups(groups, 3, metrics);
  for (const float advantage : advantages(groups[0])) EXPECT_TRUE(std::isfinite(advantage));
  for (const auto& [name, value] : metrics.values()) EXPECT_TRUE(std::isfinite(value)) << name;
  EXPECT_EQ(metrics.get("critic/score/mean"), 0.5) << "of the two that are there";
  EXPECT_EQ(metrics.get("training/num_absent_scores"), 1);
  EXPECT_EQ(metrics.get("prompt_length/clip_ratio"), 1);
}

TEST(GroupMetrics, EmptyAnswersAreLeftOutWhereVerlLeavesThemOut) {
  std::vector<Group> groups{group_scored(kPrompt, {1.0f, 0.0f})};
  groups[0].trajectories[1].response_ids.clear();
  groups[0].trajectories[0].finish = FinishReason::length;
  Metrics metrics;
  set_advantages(groups, *algorithms::find_advantage_estimator("grpo"), {}, metrics);
  report_groups(groups, 10, metrics);
  EXPECT_EQ(metrics.get("response_length/mean"), 1);
  EXPECT_EQ(metrics.get("response_length/clip_ratio"), 0.5);
  EXPECT_EQ(metrics.get("response_length_non_aborted/mean"), 2);
  EXPECT_EQ(metrics.get("response_length_non_aborted/clip_ratio"), 1);
  EXPECT_EQ(metrics.get("response/aborted_ratio"), 0.5);
  EXPECT_EQ(metrics.get("critic/score/mean"), 1);
  EXPECT_EQ(metrics.get("prompt_length/clip_ratio"), 0);
}

TEST(GroupMetrics, TooManyAbsentScoresAreTold) {
  const std::vector<Group> groups{group_scored(kPrompt, {1.0f, std::nullopt, 0.0f, std::nullopt})};
  EXPECT_EQ(find_absence(groups, 0.5), "") << "exactly the share that is allowed";
  const std::string told = find_absence(groups, 0.4);
  EXPECT_NE(told.find("2 of 4 scores are absent"), std::string::npos) << told;
  EXPECT_NE(told.find("data.jsonl:7, sample 1: the scorer gave nan"), std::string::npos) << told;
  EXPECT_EQ(find_absence(groups, 1.0), "");
  EXPECT_NE(find_absence(groups, 0.0), "");
}

}  // namespace
}  // namespace hone
