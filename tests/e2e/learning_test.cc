// A small run whose reward must rise: sums of one digit, SFT to middling, then GRPO. The same run at learning rate 0
// shows that the margin cannot come from luck.
#include <gtest/gtest.h>

#include <cmath>

#include "support/tiny_run.h"

namespace hone::test {
namespace {

double mean(const std::vector<double>& values, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += values[i];
  return sum / static_cast<double>(end - begin);
}

TEST(Learning, RewardRisesWithGrpoAndNotWithoutALearningRate) {
  const TemporaryFolder folder("learning");
  ModelConfig config = tiny_config();
  config.hidden_size = 32;
  config.intermediate_size = 64;
  config.num_kv_heads = 4;
  config.initializer_range = 0.08f;
  write_tiny_inputs(folder.path(), 20, 1, 24, 3);
  write_tiny_model(folder / "model", 3, config);
  Result result = run_hone(
      folder.path(), tiny_sft(folder.path(), folder / "sft") +
                         Arguments{"trainer.total_training_steps=60", "data.train_batch_size=8",
                                   "data.max_token_len_per_gpu=1000", "optim.lr=5e-3", "optim.lr_scheduler=constant"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto scores = [&](const std::string& name, const char* lr) {
    result = run_hone(
        folder.path(),
        tiny_train(folder.path(), folder / name) +
            Arguments{"actor_rollout_ref.model.path=" + last_checkpoint(folder / "sft"), "data.train_batch_size=16",
                      "actor_rollout_ref.rollout.n=8", "actor_rollout_ref.actor.ppo_mini_batch_size=8",
                      "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=1000",
                      "actor_rollout_ref.actor.entropy_coeff=0",
                      "actor_rollout_ref.rollout.max_num_batched_tokens=2048",
                      std::string("actor_rollout_ref.actor.optim.lr=") + lr, "trainer.total_training_steps=60"});
    EXPECT_EQ(result.code, 0) << result.err;
    return metric(folder / name, "critic/score/mean");
  };
  const auto learnt = scores("learnt", "1e-3"), still = scores("still", "0");
  ASSERT_EQ(learnt.size(), 60u);
  // float32 has the same bits on every machine, so these are no matters of chance
  EXPECT_GT(mean(learnt, 50, 60), mean(learnt, 0, 10) + 0.2);
  EXPECT_LT(std::abs(mean(still, 50, 60) - mean(still, 0, 10)), 0.05);
}

}  // namespace
}  // namespace hone::test
