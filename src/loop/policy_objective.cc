#include "loop/policy_objective.h"

#include "core/error.h"

namespace hone {

algorithms::RolloutCorrection rollout_correction(const CorrectionRecipe& recipe) {
  using Weights = algorithms::RolloutCorrection::Weights;
  algorithms::RolloutCorrection correction;
  if (recipe.rollout_is) correction.weights = *recipe.rollout_is == "token" ? Weights::token : Weights::sequence;
  correction.threshold = recipe.rollout_is_threshold;
  correction.batch_normalize = recipe.rollout_is_batch_normalize;
  if (recipe.rollout_rs) {
    const std::string fault = algorithms::parse_rejections(*recipe.rollout_rs, recipe.rollout_rs_threshold.value_or(""),
                                                           correction.rejections);
    HONE_CHECK(fault.empty(), "rollout_rs: {}", fault);  // load_recipe has looked at it
  }
  return correction;
}

algorithms::AdvantageOptions advantage_options(const AlgorithmRecipe& recipe) {
  return {.norm_by_std = recipe.norm_adv_by_std_in_grpo, .gamma = recipe.gamma, .lambda = recipe.lam};
}

const algorithms::PolicyLoss* policy_loss_of(const Recipe& recipe) {
  const CorrectionRecipe& bypass = recipe.algorithm.rollout_correction;
  const bool reinforces = bypass.bypass_mode && bypass.loss_type == "reinforce";
  return algorithms::find_policy_loss(reinforces ? "gpg" : recipe.actor.policy_loss.loss_mode);
}

Objective policy_objective(const Recipe& recipe) {
  const ActorRecipe& actor = recipe.actor;
  const PolicyLossRecipe& loss = actor.policy_loss;
  Objective objective;
  objective.policy = policy_loss_of(recipe);
  objective.options.clip = {static_cast<float>(actor.low()), static_cast<float>(actor.high()),
                            static_cast<float>(actor.clip_ratio_c)};
  objective.options.tau_pos = actor.tau_pos;
  objective.options.tau_neg = actor.tau_neg;
  objective.options.clip_cov_ratio = loss.clip_cov_ratio;
  objective.options.clip_cov_lb = loss.clip_cov_lb;
  objective.options.clip_cov_ub = loss.clip_cov_ub;
  objective.options.kl_cov_ratio = loss.kl_cov_ratio;
  objective.options.ppo_kl_coef = loss.ppo_kl_coef;
  objective.aggregation = *algorithms::loss_aggregation(actor.loss_agg_mode);
  objective.loss_scale_factor = actor.loss_scale_factor.value_or(static_cast<double>(recipe.data.max_response_length));
  objective.entropy_coeff = actor.entropy_coeff;
  if (actor.use_kl_loss) {
    objective.kl = algorithms::kl_estimator(actor.kl_loss_type);
    objective.kl_coef = actor.kl_loss_coef;
  }
  objective.seed = static_cast<uint64_t>(recipe.trainer.seed);
  const CorrectionRecipe& bypass = recipe.algorithm.rollout_correction;
  if (!bypass.bypass_mode) return objective;
  algorithms::RolloutCorrection correction = rollout_correction(bypass);
  if (bypass.loss_type == "ppo_clip") {
    correction.weights = algorithms::RolloutCorrection::Weights::none;  // its ratios are the weights
  }
  if (correction.is_on()) objective.correction = correction;
  return objective;
}

}  // namespace hone
