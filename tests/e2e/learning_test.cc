// A small run whose reward must rise: sums of one digit, SFT to middling, then GRPO. The same run at learning rate 0
// shows that the margin cannot come from luck.
#include "support/learning.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone::test {
namespace {

// float32 has the same bits on every machine, so these are no matters of chance.
TEST_F(Learning, RewardRisesWithGrpoAndNotWithoutALearningRate) {
  EXPECT_GT(gain("learnt", 60, {}), 0.2);
  EXPECT_LT(std::abs(gain("still", 60, {"actor_rollout_ref.actor.optim.lr=0"})), 0.05);
}

// One of each kind: whitened over the step, a ratio of the answer, covariances of the update, a KL loss.
TEST_F(Learning, RewardRisesWithOneOfEachKind) {
  EXPECT_GT(
      gain("reinforce", 30,
           {kEstimator + "reinforce_plus_plus", kLossMode + "gspo", "actor_rollout_ref.actor.clip_ratio_high=0.05"}),
      0.1);
  EXPECT_GT(gain("kl_cov", 30,
                 {kEstimator + "rloo", kLossMode + "kl_cov", "actor_rollout_ref.actor.use_kl_loss=true",
                  "actor_rollout_ref.actor.kl_loss_type=k2"}),
            0.1);
}

}  // namespace
}  // namespace hone::test
