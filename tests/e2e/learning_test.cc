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

// SFT to middling, once for all that learn from it.
class Learning : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder("learning");
    ModelConfig config = tiny_config();
    config.hidden_size = 32;
    config.intermediate_size = 64;
    config.num_kv_heads = 4;
    config.initializer_range = 0.08f;
    write_tiny_inputs(folder_->path(), 20, 1, 24, 3);
    write_tiny_model(*folder_ / "model", 3, config);
    const Result result =
        run_hone(folder_->path(),
                 tiny_sft(folder_->path(), *folder_ / "sft") +
                     Arguments{"trainer.total_training_steps=60", "data.train_batch_size=8",
                               "data.max_token_len_per_gpu=1000", "optim.lr=5e-3", "optim.lr_scheduler=constant"});
    ASSERT_EQ(result.code, 0) << result.err;
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }

  // The score of every step.
  static std::vector<double> scores(const std::string& name, int64_t steps, const Arguments& more) {
    const Result result = run_hone(
        folder_->path(),
        tiny_train(folder_->path(), *folder_ / name) +
            Arguments{"actor_rollout_ref.model.path=" + last_checkpoint(*folder_ / "sft"), "data.train_batch_size=16",
                      "actor_rollout_ref.rollout.n=8", "actor_rollout_ref.actor.ppo_mini_batch_size=8",
                      "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=1000",
                      "actor_rollout_ref.actor.entropy_coeff=0",
                      "actor_rollout_ref.rollout.max_num_batched_tokens=2048", "actor_rollout_ref.actor.optim.lr=1e-3",
                      "trainer.total_training_steps=" + std::to_string(steps)} +
            more);
    EXPECT_EQ(result.code, 0) << result.err;
    return metric(*folder_ / name, "critic/score/mean");
  }
  // Mean of the last ten steps over that of the first ten.
  static double gain(const std::string& name, int64_t steps, const Arguments& more) {
    const std::vector<double> of_steps = scores(name, steps, more);
    if (of_steps.size() != static_cast<size_t>(steps)) return -1;
    return mean(of_steps, of_steps.size() - 10, of_steps.size()) - mean(of_steps, 0, 10);
  }

  static TemporaryFolder* folder_;
};
TemporaryFolder* Learning::folder_ = nullptr;

// float32 has the same bits on every machine, so these are no matters of chance.
TEST_F(Learning, RewardRisesWithGrpoAndNotWithoutALearningRate) {
  EXPECT_GT(gain("learnt", 60, {}), 0.2);
  EXPECT_LT(std::abs(gain("still", 60, {"actor_rollout_ref.actor.optim.lr=0"})), 0.05);
}

const std::string kLossMode = "actor_rollout_ref.actor.policy_loss.loss_mode=", kEstimator = "algorithm.adv_estimator=";

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

// tools/learning_matrix: every estimator with its usual loss, every loss with grpo, every KL form. Not a part of CI.
TEST_F(Learning, DISABLED_RewardRisesWithEveryEstimatorLossAndKl) {
  const std::string kl = "actor_rollout_ref.actor.kl_loss_type=", norm = "algorithm.norm_adv_by_std_in_grpo=false";
  const std::pair<std::string, Arguments> cases[] = {
      {"grpo", {}},
      {"dr_grpo", {norm, "actor_rollout_ref.actor.loss_agg_mode=seq-mean-token-sum-norm"}},
      {"grpo_vectorized", {kEstimator + "grpo_vectorized"}},
      {"grpo_passk", {kEstimator + "grpo_passk"}},
      {"rloo", {kEstimator + "rloo"}},
      {"rloo_vectorized", {kEstimator + "rloo_vectorized"}},
      {"opo", {kEstimator + "opo"}},
      {"gpg", {kEstimator + "gpg", kLossMode + "gpg"}},
      {"reinforce_plus_plus", {kEstimator + "reinforce_plus_plus"}},
      {"reinforce_plus_plus_n1",
       {kEstimator + "reinforce_plus_plus", "actor_rollout_ref.rollout.n=1", "data.train_batch_size=128",
        "actor_rollout_ref.actor.ppo_mini_batch_size=64"}},
      {"reinforce_plus_plus_baseline", {kEstimator + "reinforce_plus_plus_baseline"}},
      {"clip_higher", {"actor_rollout_ref.actor.clip_ratio_high=0.28"}},
      {"gspo", {kLossMode + "gspo", "actor_rollout_ref.actor.clip_ratio_high=0.05"}},
      {"sapo", {kLossMode + "sapo"}},
      {"gpg_loss", {kLossMode + "gpg"}},
      {"clip_cov", {kLossMode + "clip_cov"}},
      {"kl_cov", {kLossMode + "kl_cov"}},
      {"geo_mean", {kLossMode + "geo_mean"}},
      {"cispo", {kLossMode + "cispo"}},
      {"reinforce",
       {"algorithm.rollout_correction.bypass_mode=true", "algorithm.rollout_correction.loss_type=reinforce",
        "algorithm.rollout_correction.rollout_is=token"}},
      {"kl_k1", {"actor_rollout_ref.actor.use_kl_loss=true", kl + "k1"}},
      {"kl_abs", {"actor_rollout_ref.actor.use_kl_loss=true", kl + "abs"}},
      {"kl_k2", {"actor_rollout_ref.actor.use_kl_loss=true", kl + "k2"}},
      {"kl_k3", {"actor_rollout_ref.actor.use_kl_loss=true", kl + "k3"}},
      {"kl_k3+", {"actor_rollout_ref.actor.use_kl_loss=true", kl + "k3+"}},
  };
  for (const auto& [name, settings] : cases) {
    const double rise = gain("matrix_" + name, 60, settings);
    std::printf("%-32s %+.3f\n", name.c_str(), rise);
    EXPECT_GT(rise, 0.1) << name;
  }
}

}  // namespace
}  // namespace hone::test
