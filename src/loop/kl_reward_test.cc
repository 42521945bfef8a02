#include "loop/kl_reward.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"

namespace hone {
namespace {

AlgorithmRecipe recipe_of(const std::string& type) {
  AlgorithmRecipe recipe;
  recipe.kl_penalty = "k1";
  recipe.kl_ctrl = {type, 0.5, 0.1, 100};
  return recipe;
}

// An answer of two ids, each with a k1 of 0.5.
Trajectory masked_answer(std::vector<uint8_t> loss_mask) {
  Trajectory t;
  t.response_ids = {1, 2};
  t.finish = FinishReason::end;
  t.score.value = 1.0f;
  t.logprobs = {-1.0f, -1.0f};
  t.ref_logprobs = {-1.5f, -1.5f};
  t.loss_mask = std::move(loss_mask);
  return t;
}

TEST(KlReward, AnAnswerThatIsRejectedWholeIsNoAnswerWithoutKl) {
  std::vector<Group> groups(1);
  groups[0].trajectories = {masked_answer({}), masked_answer({0, 0}), masked_answer({0, 1})};
  KlReward reward(recipe_of("adaptive"));
  Metrics metrics;
  reward.apply(groups, metrics);
  EXPECT_EQ(metrics.get("actor/reward_kl_penalty"), 0.5);
  EXPECT_EQ(groups[0].trajectories[1].token_rewards, (std::vector<float>{0, 0}));
  EXPECT_EQ(groups[0].trajectories[2].token_rewards, (std::vector<float>{0, -0.25f}));
  reward.end_step();
  reward.apply(groups, metrics);
  EXPECT_DOUBLE_EQ(metrics.get("actor/reward_kl_penalty_coeff"), 0.5 * (1 + 0.2 * 2 / 100)) << "two answers";
}

TEST(KlReward, AnAdaptiveWeightIsKeptAndWhatIsNoneIsRefused) {
  const std::string folder = ::testing::TempDir() + "kl_reward_" + std::to_string(::getpid());
  io::make_folders(folder);
  const std::string path = kl_controller_path(folder);
  const auto coef = [](KlReward& reward) {
    std::vector<Group> none;
    Metrics metrics;
    reward.apply(none, metrics);
    return metrics.get("actor/reward_kl_penalty_coeff");
  };
  KlReward fixed(recipe_of("fixed"));
  fixed.save(folder);
  EXPECT_FALSE(io::exists(path));
  KlReward reward(recipe_of("adaptive"));
  ::testing::internal::CaptureStderr();
  reward.restore(folder);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("begins with 0.5"), std::string::npos);
  io::write_file(path, "{\"kl_coef\": 0.25}");
  reward.restore(folder);
  EXPECT_EQ(coef(reward), 0.25);
  for (const char* broken : {"{\"kl_coef\": -1}", "{\"kl_coef\": \"1\"}", "{}", "{\"kl_co", ""}) {
    io::write_file(path, broken);
    EXPECT_THROW(reward.restore(folder), Error) << broken;
  }
}

}  // namespace
}  // namespace hone
