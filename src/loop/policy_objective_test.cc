// Every option of an algorithm arrives where the trainer looks, and is by default verl's.
#include "loop/policy_objective.h"

#include <gtest/gtest.h>

#include <set>

#include "algorithms/loss_aggregation.h"

namespace hone {
namespace {

std::string text(const algorithms::RolloutCorrection& c) {
  std::string all = fmt::format("{} {} {}", static_cast<int>(c.weights), c.threshold, c.batch_normalize);
  for (const algorithms::Rejection& r : c.rejections) {
    all += fmt::format(" {} {} {} {}", static_cast<int>(r.scope), static_cast<int>(r.statistic), r.low, r.high);
  }
  return all;
}

// All numbers of what a recipe stands for.
std::string text(const Recipe& recipe) {
  const Objective o = policy_objective(recipe);
  const algorithms::PolicyLossOptions& p = o.options;
  const algorithms::AdvantageOptions a = advantage_options(recipe.algorithm);
  return fmt::format(
      "{} {} {} {} | {} {} {} {} {} | {} {} | {} {} {} | {} {} {} | {} | {} {} | {} | {}", o.policy->name, p.clip.low,
      p.clip.high, p.clip.c, p.tau_pos, p.tau_neg, p.clip_cov_ratio, p.clip_cov_lb, p.clip_cov_ub, p.kl_cov_ratio,
      p.ppo_kl_coef, static_cast<int>(o.aggregation), o.loss_scale_factor, o.entropy_coeff,
      o.kl ? static_cast<int>(o.kl->form) : -1, o.kl && o.kl->straight_through, o.kl_coef, o.seed, a.norm_by_std,
      a.gamma, o.correction ? text(*o.correction) : "", text(rollout_correction(recipe.algorithm.rollout_correction)));
}

TEST(PolicyObjective, EveryOptionOfAnAlgorithmArrives) {
  const std::string actor = "actor_rollout_ref.actor.", loss = actor + "policy_loss.";
  const std::string correction = "algorithm.rollout_correction.";
  const std::vector<std::string> base{"data.train_files=a.jsonl", "actor_rollout_ref.model.path=m",
                                      "actor_rollout_ref.rollout.n=4"};
  const auto text_with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), base.begin(), base.end());
    std::vector<std::string> notes;
    return text(load_recipe("", arguments, notes));
  };
  const std::string kl = actor + "use_kl_loss=true", bypass = correction + "bypass_mode=true";
  const std::string rs = correction + "rollout_rs=token_k1", bound = correction + "rollout_rs_threshold=2";
  const std::vector<std::vector<std::string>> cases = {
      {},
      {loss + "loss_mode=gspo"},
      {loss + "loss_mode=sapo"},
      {loss + "loss_mode=gpg"},
      {loss + "loss_mode=clip_cov"},
      {loss + "loss_mode=kl_cov"},
      {loss + "loss_mode=geo_mean"},
      {loss + "loss_mode=cispo"},
      {actor + "clip_ratio=0.1"},
      {actor + "clip_ratio_low=0.1"},
      {actor + "clip_ratio_high=0.1"},
      {actor + "clip_ratio_c=4"},
      {actor + "tau_pos=2"},
      {actor + "tau_neg=2"},
      {loss + "clip_cov_ratio=0.1"},
      {loss + "clip_cov_lb=0.1"},
      {loss + "clip_cov_ub=0.1"},
      {loss + "kl_cov_ratio=0.1"},
      {loss + "ppo_kl_coef=0.2"},
      {actor + "loss_agg_mode=seq-mean-token-sum"},
      {actor + "loss_agg_mode=seq-mean-token-sum-norm", actor + "loss_scale_factor=3"},
      {actor + "entropy_coeff=0.1"},
      {kl},
      {kl, actor + "kl_loss_coef=0.1"},
      {kl, actor + "kl_loss_type=k1"},
      {kl, actor + "kl_loss_type=abs"},
      {kl, actor + "kl_loss_type=k2"},
      {kl, actor + "kl_loss_type=k2+"},
      {"trainer.seed=5"},
      {"algorithm.norm_adv_by_std_in_grpo=false"},
      {"algorithm.gamma=0.5"},
      {correction + "rollout_is=token"},
      {correction + "rollout_is=sequence"},
      {correction + "rollout_is=token", correction + "rollout_is_threshold=3"},
      {correction + "rollout_is=token", correction + "rollout_is_batch_normalize=true"},
      {rs, bound},
      {rs, correction + "rollout_rs_threshold=0.9_2.0"},
      {correction + "rollout_rs='token_k1,seq_max_k3'", bound},
      {bypass, rs, bound},
      {bypass, correction + "loss_type=reinforce", correction + "rollout_is=token"},
      {bypass, correction + "loss_type=reinforce", correction + "rollout_is=sequence"},
  };
  std::set<std::string> seen;
  for (const auto& arguments : cases) {
    EXPECT_TRUE(seen.insert(text_with(arguments)).second)
        << (arguments.empty() ? "" : arguments.back()) << " changes nothing";
  }
  EXPECT_EQ(text_with({}), text_with({bypass})) << "the sampled log-probs are the old ones already";
  EXPECT_EQ(text_with({}), text_with({loss + "loss_mode=vanilla", actor + "clip_ratio_c=3.0", actor + "tau_pos=1.0",
                                      actor + "tau_neg=1.05", loss + "clip_cov_ratio=0.0002", loss + "clip_cov_lb=1.0",
                                      loss + "clip_cov_ub=5.0", loss + "kl_cov_ratio=0.0002", loss + "ppo_kl_coef=0.1",
                                      correction + "rollout_is_threshold=2.0"}));
}

}  // namespace
}  // namespace hone
