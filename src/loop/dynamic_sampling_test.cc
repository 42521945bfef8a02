#include "loop/dynamic_sampling.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

struct Given {
  std::optional<float> score;
  float penalty = 0;
  std::optional<double> acc = {};
  int64_t num_ids = 2;
};

Group answers(const std::vector<Given>& all) {
  Group group;
  for (const Given& given : all) {
    Trajectory t;
    t.response_ids.assign(static_cast<size_t>(given.num_ids), 4);
    t.score.value = given.score;
    if (given.score) t.reward = *given.score + given.penalty;
    if (given.acc) t.score.extras.push_back({"acc", *given.acc});
    group.trajectories.push_back(std::move(t));
  }
  return group;
}

TEST(DynamicSampling, KeepsAGroupWhoseAnswersDifferInTheMetric) {
  using enum FilterMetric;
  const auto kept = [](const std::vector<Given>& all) {
    std::string metrics;
    for (const auto& [metric, name] : {std::pair{acc, "acc "}, {score, "score "}, {reward, "reward "}}) {
      if (answers_differ(answers(all), metric)) metrics += name;
    }
    return metrics;
  };
  EXPECT_EQ(kept({{1.0f}, {0.0f}, {1.0f}}), "acc score reward ");
  EXPECT_EQ(kept({{1.0f}, {1.0f}, {1.0f}}), "");
  EXPECT_EQ(kept({{0.1f}, {0.1f}, {0.1f}}), "") << "no rounding of a mean comes between";
  EXPECT_EQ(kept({{1.0f, -0.5f}, {1.0f}}), "reward ") << "equal but for overlong shaping";
  EXPECT_EQ(kept({{1.0f, 0, 1.0}, {0.5f, 0, 1.0}}), "score reward ") << "both are right";
  EXPECT_EQ(kept({{1.0f, 0, 1.0}, {1.0f, 0, 0.0}}), "acc ");
  EXPECT_EQ(kept({{0.0f}}), "acc score reward ") << "compares with nothing, as in verl";
  EXPECT_EQ(kept({{1.0f}, {std::nullopt}}), "") << "absent ones take no part";
  EXPECT_EQ(kept({{1.0f}, {.score = 0.0f, .num_ids = 0}}), "") << "nor do answers without ids";
}

TEST(DynamicSampling, EndsAtTheLimitWithTheShares) {
  std::vector<Group> kept;
  DynamicSampling dynamic(FilterMetric::acc, 3, 2, 1000);
  dynamic.filter({answers({{1.0f}, {1.0f}}), answers({{1.0f}, {0.0f}}), answers({{-1.0f}, {-1.0f}})}, kept);
  EXPECT_FALSE(dynamic.reason_to_end());
  dynamic.filter({answers({{1.0f}, {1.0f}})}, kept);
  EXPECT_EQ(kept.size(), 1u);
  EXPECT_EQ(dynamic.reason_to_end().value_or(""),
            "2 generation batches gave 1 of the 3 groups of a step, and algorithm.filter_groups.max_num_gen_batches "
            "allows no more: of 4 groups 25.0 % differ in their answers, 50.0 % are solved by every answer, 25.0 % by "
            "none");
  Metrics metrics;
  dynamic.report(metrics);
  EXPECT_EQ(metrics.get("train/num_gen_batches"), 2);
  EXPECT_EQ(metrics.get("training/filtered_groups/solved_ratio"), 0.5);
}

TEST(DynamicSampling, WithoutALimitEndsOnlyWhenAPassOverTheDataGaveNothing) {
  for (const bool hopeless : {false, true}) {
    std::vector<Group> kept;
    DynamicSampling dynamic(FilterMetric::acc, 3, 0, 12);
    if (!hopeless) dynamic.filter({answers({{1.0f}, {0.0f}})}, kept);
    int64_t batches = 0;
    for (; batches < 30 && !dynamic.reason_to_end(); ++batches) dynamic.filter({answers({{1.0f}, {1.0f}})}, kept);
    EXPECT_EQ(batches, hopeless ? 12 : 30);
  }
}

TEST(DynamicSampling, EndsNeverWhenThereAreEnough) {
  std::vector<Group> kept;
  DynamicSampling dynamic(FilterMetric::score, 1, 1, 1);
  dynamic.filter({answers({{1.0f}, {0.0f}}), answers({{1.0f}, {0.0f}})}, kept);
  EXPECT_EQ(kept.size(), 2u);
  EXPECT_FALSE(dynamic.reason_to_end());
}

}  // namespace
}  // namespace hone
