// Every estimator with its usual loss, every loss with grpo, every KL form: prints how much the reward rises over 60
// steps, and fails where it does not. A program of its own, tools/learning_matrix: it takes minutes.
#include <cstdio>

#include "support/learning.h"

namespace hone::test {
namespace {

TEST_F(Learning, RewardRisesWithEveryEstimatorLossAndKl) {
  const std::string kl = "actor_rollout_ref.actor.kl_loss_type=", norm = "algorithm.norm_adv_by_std_in_grpo=false";
  const std::string file = folder_->path() + "/train.jsonl", more = "," + file;
  const std::string seven = "data.train_files=[" + file + more + more + more + more + more + more + "]";
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
       {kEstimator + "reinforce_plus_plus", "actor_rollout_ref.rollout.n=1", seven, "data.train_batch_size=128",
        "actor_rollout_ref.actor.ppo_mini_batch_size=64"}},
      {"reinforce_plus_plus_baseline", {kEstimator + "reinforce_plus_plus_baseline"}},
      {"remax", {kEstimator + "remax"}},
      {"gae", {kEstimator + "gae", "critic.optim.lr=3e-3", "trainer.critic_warmup=3"}},
      {"gae_n1",
       {kEstimator + "gae", "critic.optim.lr=3e-3", "trainer.critic_warmup=3", "actor_rollout_ref.rollout.n=1",
        "data.train_batch_size=128", "actor_rollout_ref.actor.ppo_mini_batch_size=64"}},
      {"kl_in_reward", {"algorithm.use_kl_in_reward=true"}},
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
