#include "loop/rewards.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Rewards, AreTheScoreAndTheOverlongPenaltyAndAbsentWhereThatIs) {
  std::vector<Group> groups(1);
  for (const int64_t length : {4, 9, 10, 10}) {
    Trajectory t;
    t.response_ids.assign(static_cast<size_t>(length), 1);
    t.score.value = 1.0f;
    groups[0].trajectories.push_back(t);
  }
  auto& answers = groups[0].trajectories;
  answers[3].score.value = std::nullopt;
  set_rewards(groups, std::nullopt, true);
  EXPECT_EQ(answers[1].reward, 1.0f);
  EXPECT_TRUE(answers[1].score.extras.empty());
  EXPECT_FALSE(answers[3].reward);
  const OverlongBuffer overlong{.max_length = 10, .length = 2, .penalty_factor = 0.5};
  set_rewards(groups, overlong, true);
  EXPECT_EQ(answers[0].reward, 1.0f);
  EXPECT_EQ(answers[1].reward, 0.75f);
  EXPECT_EQ(answers[2].reward, 0.5f);
  EXPECT_FALSE(answers[3].reward);
  ASSERT_EQ(answers[1].score.extras.size(), 2u);
  EXPECT_EQ(std::get<double>(answers[1].score.extras[0].value), -0.25);
  EXPECT_EQ(std::get<double>(answers[1].score.extras[1].value), 1.0);
  EXPECT_EQ(answers[1].score.value, 1.0f) << "validation and acc know nothing of it";
  Metrics metrics;
  report_overlong(groups, overlong, metrics);
  EXPECT_EQ(metrics.get("reward/overlong/mean"), -0.25);
  EXPECT_DOUBLE_EQ(metrics.get("reward/overlong/ratio"), 2.0 / 3);
}

}  // namespace
}  // namespace hone
