#include "loop/recipe_algorithms.h"

#include <algorithm>

#include "algorithms/advantage.h"
#include "algorithms/kl.h"
#include "algorithms/loss_aggregation.h"
#include "algorithms/policy_loss.h"
#include "algorithms/rollout_correction.h"
#include "loop/policy_objective.h"

namespace hone {

namespace {

using config::Effect;
using config::Schema;

template <class Table>
std::vector<std::string> names_of_table(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

std::vector<std::string> kl_names_with(std::initializer_list<const char*> endings) {
  std::vector<std::string> names;
  for (const char* ending : endings) {
    for (const std::string_view name : algorithms::kl_names()) names.push_back(std::string(name) + ending);
  }
  return names;
}

// "A, B or C"
std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    list += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return list;
}

// "KEY is A, B or C" and whether it is.
struct OneOf {
  OneOf(const std::string& key, const std::string* value, const std::vector<std::string>& among)
      : condition(key + " is " + listed(among)),
        holds([value, among] { return std::find(among.begin(), among.end(), *value) != among.end(); }) {}
  std::string condition;
  std::function<bool()> holds;
};

void add_correction_fields(Schema& s, CorrectionRecipe& c) {
  const std::string p = "algorithm.rollout_correction.";
  s.field(
       p + "rollout_is", &c.rollout_is,
       "Importance weights of what older weights drew (over-sampling, kept surplus): token or sequence; on policy they "
       "are exactly 1. null = none.")
      .one_of({"token", "sequence"})
      .when("not in bypass mode with ppo_clip", [&c] { return !c.bypass_mode || c.loss_type == "reinforce"; });
  const char* weighs = "rollout_is is set";
  const auto has_weights = [&c] { return c.rollout_is.has_value(); };
  s.field(p + "rollout_is_threshold", &c.rollout_is_threshold, "Largest weight.").at_least(1).when(weighs, has_weights);
  s.field(p + "rollout_is_batch_normalize", &c.rollout_is_batch_normalize, "Divide the weights by their mean.")
      .when(weighs, has_weights);
  s.field(p + "rollout_rs", &c.rollout_rs,
          "What leaves tokens or answers out whose log-probs have moved: a list with commas of token_k1, seq_sum_k1, "
          "seq_mean_k1 and the same with k2, k3, and seq_max_k2, seq_max_k3. null = nothing.");
  s.field(
       p + "rollout_rs_threshold", &c.rollout_rs_threshold,
       "A bound for each of these, or one for all: low_high or a number u, 1/u_u, of ratios for k1; one number for k2 "
       "and k3.")
      .takes_numbers()
      .when("rollout_rs is set", [&c] { return c.rollout_rs.has_value(); });
  s.field(
      p + "bypass_mode", &c.bypass_mode,
      "Ratios, weights and rejection are those of the update's own policy against the sampled log-probs, without old "
      "log-probs between them.");
  s.field(p + "loss_type", &c.loss_type,
          "ppo_clip = the clipped surrogate, without weights; reinforce = -A logprob with them.")
      .one_of({"ppo_clip", "reinforce"})
      .when("rollout_correction.bypass_mode is true", [&c] { return c.bypass_mode; });
}

void add_kl_in_reward_fields(Schema& s, AlgorithmRecipe& a) {
  const std::string p = "algorithm.", c = p + "kl_ctrl.";
  const auto on = [&a] { return a.use_kl_in_reward; };
  const auto adapts = [&a] { return a.use_kl_in_reward && a.kl_ctrl.type == "adaptive"; };
  const char *when = "use_kl_in_reward is true", *adaptive = "kl_ctrl.type is adaptive";
  s.field(p + "use_kl_in_reward", &a.use_kl_in_reward,
          "Take the KL to the starting weights from the reward of each token, as actor.use_kl_loss has them.");
  s.field(p + "kl_penalty", &a.kl_penalty, "How it is estimated: kl or k1, abs, mse or k2, low_var_kl or k3.")
      .one_of(kl_names_with({""}))
      .because("full is declared by verl without an implementation, and a reward has no gradient for +")
      .when(when, on);
  s.field(c + "type", &a.kl_ctrl.type,
          "fixed; adaptive keeps the KL near target_kl by its weight, which checkpoints hold.")
      .one_of({"fixed", "adaptive"})
      .when(when, on);
  s.field(c + "kl_coef", &a.kl_ctrl.kl_coef,
          "Its weight; adaptive: that of the first step. Refused without it, unless 0 or the default.")
      .at_least(0)
      .when(when);
  s.field(c + "target_kl", &a.kl_ctrl.target_kl, "KL of a token that is aimed at, nats.")
      .above(0)
      .when(adaptive, adapts);
  s.field(c + "horizon", &a.kl_ctrl.horizon, "Answers over which the weight follows an error.")
      .above(0)
      .when(adaptive, adapts);
}

// The losses of the table that a flag holds for, and whether the one that runs is one of them.
struct LossWith {
  LossWith(bool algorithms::PolicyLoss::*flag, const Recipe* recipe)
      : holds([flag, recipe] {
          const algorithms::PolicyLoss* loss = policy_loss_of(*recipe);
          return loss == nullptr || loss->*flag;
        }) {
    std::vector<std::string> names;
    for (const algorithms::PolicyLoss& loss : algorithms::policy_losses()) {
      if (loss.*flag) names.emplace_back(loss.name);
    }
    condition = "the policy loss that runs is " + listed(names);
  }
  std::string condition;
  std::function<bool()> holds;
};

void add_clip_fields(Schema& s, Recipe& r) {
  const std::string p = "actor_rollout_ref.actor.";
  ActorRecipe& a = r.actor;
  const LossWith clips(&algorithms::PolicyLoss::clips, &r), dual_clips(&algorithms::PolicyLoss::dual_clips, &r);
  s.field(p + "clip_ratio", &a.clip_ratio, "Ratios are clipped to 1 - low .. 1 + high; this is what both fall back to.")
      .at_least(0)
      .when("clip_ratio_low or clip_ratio_high is null and " + clips.condition,
            [&a, clips] { return (!a.clip_ratio_low || !a.clip_ratio_high) && clips.holds(); })
      .also_called({"clip_range", "cliprange", "epsilon"});
  s.field(p + "clip_ratio_low", &a.clip_ratio_low, "Lower clip; null = clip_ratio.")
      .at_least(0)
      .at_most(1)
      .when(clips.condition, clips.holds);
  s.field(p + "clip_ratio_high", &a.clip_ratio_high, "Upper clip; null = clip_ratio.")
      .at_least(0)
      .when(clips.condition, clips.holds)
      .also_called({"epsilon_high"});
  s.field(p + "clip_ratio_c", &a.clip_ratio_c, "Dual clip: bound of the loss where the advantage is negative.")
      .above(1)
      .when(dual_clips.condition, dual_clips.holds);
}

// Whether a loss, the entropy, the KL or a critic goes by actor.loss_agg_mode. A loss with an aggregation of its own
// is content with that one.
bool aggregates(const Recipe& r) {
  const algorithms::PolicyLoss* loss = policy_loss_of(r);
  return loss == nullptr || !loss->aggregation ||
         loss->aggregation == algorithms::loss_aggregation(r.actor.loss_agg_mode) || r.actor.entropy_coeff != 0.0 ||
         r.actor.use_kl_loss || (r.has_critic() && !r.critic.loss_agg_mode);
}

void add_aggregation_fields(Schema& s, Recipe& r) {
  const std::string p = "actor_rollout_ref.actor.";
  s.field(p + "loss_agg_mode", &r.actor.loss_agg_mode,
          "How token losses become one number; normalisers are taken once over the optimizer batch.")
      .one_of(algorithms::loss_aggregation_names())
      .when("the policy loss has no aggregation of its own, or the entropy, the KL or a critic goes by it",
            [&r] { return aggregates(r); });
  const std::string norm = "seq-mean-token-sum-norm";
  s.field(p + "loss_scale_factor", &r.actor.loss_scale_factor, "Divisor; null = data.max_response_length.")
      .above(0)
      .when("loss_agg_mode is seq-mean-token-sum-norm and has an effect, or critic.loss_agg_mode is", [&r, norm] {
        return (r.actor.loss_agg_mode == norm && aggregates(r)) || (r.has_critic() && r.critic.loss_agg_mode == norm);
      });
}

void add_loss_mode_fields(Schema& s, ActorRecipe& a) {
  const std::string p = "actor_rollout_ref.actor.", l = p + "policy_loss.";
  PolicyLossRecipe& loss = a.policy_loss;
  s.field(
       l + "loss_mode", &loss.loss_mode,
       "Policy loss (docs/algorithms.md); gspo, sapo and geo_mean are means over answers of means over tokens whatever "
       "loss_agg_mode says.")
      .one_of(names_of_table(algorithms::policy_losses()));
  const OneOf clip_cov("loss_mode", &loss.loss_mode, {"clip_cov"}), kl_cov("loss_mode", &loss.loss_mode, {"kl_cov"});
  const OneOf sapo("loss_mode", &loss.loss_mode, {"sapo"});
  s.field(l + "clip_cov_ratio", &loss.clip_cov_ratio, "Share of an update's tokens that are taken out, one at least.")
      .at_least(0)
      .at_most(1)
      .when(clip_cov.condition, clip_cov.holds);
  s.field(l + "clip_cov_lb", &loss.clip_cov_lb, "They have a covariance above this.")
      .when(clip_cov.condition, clip_cov.holds);
  s.field(l + "clip_cov_ub", &loss.clip_cov_ub, "And below this.").when(clip_cov.condition, clip_cov.holds);
  s.field(l + "kl_cov_ratio", &loss.kl_cov_ratio, "Share of an update's tokens with the penalty, one at least.")
      .at_least(0)
      .at_most(1)
      .when(kl_cov.condition, kl_cov.holds);
  s.field(l + "ppo_kl_coef", &loss.ppo_kl_coef, "Weight of that penalty.")
      .at_least(0)
      .when(kl_cov.condition, kl_cov.holds);
  s.field(p + "tau_pos", &a.tau_pos, "Steepness of the gate where the advantage is above 0.")
      .above(0)
      .when(sapo.condition, sapo.holds);
  s.field(p + "tau_neg", &a.tau_neg, "And elsewhere.").above(0).when(sapo.condition, sapo.holds);
}

void add_kl_loss_fields(Schema& s, ActorRecipe& a) {
  const std::string p = "actor_rollout_ref.actor.";
  s.field(p + "use_kl_loss", &a.use_kl_loss,
          "Add the KL to the starting weights to the loss; they stay in memory as a second model, about half as large. "
          "With "
          "adapters it is the KL to the model without them, which takes no memory.");
  const auto has_kl = [&a] { return a.use_kl_loss; };
  s.field(p + "kl_loss_coef", &a.kl_loss_coef, "Its weight; refused without it, unless 0 or the default.")
      .at_least(0)
      .when("use_kl_loss is true")
      .also_called({"kl_coef", "beta"});
  s.field(
       p + "kl_loss_type", &a.kl_loss_type,
       "How it is estimated at a token: kl or k1, abs, mse or k2, low_var_kl or k3; with + behind it its gradient is "
       "that of k2.")
      .one_of(kl_names_with({"", "+"}))
      .because("full is declared by verl without an implementation")
      .when("use_kl_loss is true", has_kl);
}

}  // namespace

void add_algorithm_fields(Schema& s, AlgorithmRecipe& a) {
  s.field("algorithm.adv_estimator", &a.adv_estimator, "Advantage of an answer (verl's default is gae).")
      .one_of(names_of_table(algorithms::advantage_estimators()))
      .because("the others are not there yet");
  const OneOf normed("adv_estimator", &a.adv_estimator, {"grpo", "grpo_vectorized", "grpo_passk"});
  s.field("algorithm.norm_adv_by_std_in_grpo", &a.norm_adv_by_std_in_grpo,
          "Divide by the standard deviation of the group; false is Dr. GRPO.")
      .when(normed.condition, normed.holds);
  const OneOf discounts("adv_estimator", &a.adv_estimator, {"reinforce_plus_plus", "gae"});
  s.field("algorithm.gamma", &a.gamma, "Discount of a token's return.")
      .at_least(0)
      .at_most(1)
      .when(discounts.condition, discounts.holds);
  const OneOf gae("adv_estimator", &a.adv_estimator, {"gae"});
  s.field("algorithm.lam", &a.lam, "Lambda of generalised advantages: 1 = returns minus values, 0 = one step ahead.")
      .at_least(0)
      .at_most(1)
      .when(gae.condition, gae.holds);
  add_kl_in_reward_fields(s, a);
  add_correction_fields(s, a.rollout_correction);
}

void add_policy_loss_fields(Schema& s, Recipe& r) {
  const std::string p = "actor_rollout_ref.actor.";
  ActorRecipe& a = r.actor;
  add_loss_mode_fields(s, a);
  add_clip_fields(s, r);
  add_aggregation_fields(s, r);
  add_kl_loss_fields(s, a);
  s.field(p + "recompute_old_log_prob", &a.recompute_old_log_prob,
          "Score the answers of a step once more before it trains, as verl does: what the current weights drew has the "
          "same log-probs to the bit (training/old_log_prob_diff_max is 0, or the run ends); what older ones drew gets "
          "those of the current.")
      .when("algorithm.rollout_correction.bypass_mode is false",
            [&r] { return !r.algorithm.rollout_correction.bypass_mode; });
}

void validate_algorithms(const Recipe& r, io::Faults& faults) {
  const auto expect = [&](bool condition, const std::string& fault) {
    if (!condition) faults.add(fault);
  };
  const auto* estimator = algorithms::find_advantage_estimator(r.algorithm.adv_estimator);
  expect(estimator == nullptr || !estimator->compares || r.rollout.n >= 2,
         fmt::format("actor_rollout_ref.rollout.n = {}: expected at least 2, because algorithm.adv_estimator = {} "
                     "compares the answers of a group",
                     r.rollout.n, r.algorithm.adv_estimator));
  const ActorRecipe& actor = r.actor;
  expect(actor.use_kl_loss || actor.kl_loss_coef == 0.0 || actor.kl_loss_coef == ActorRecipe().kl_loss_coef,
         fmt::format("actor_rollout_ref.actor.kl_loss_coef: {} is refused: the KL it weighs is off "
                     "(actor_rollout_ref.actor.use_kl_loss is false)",
                     actor.kl_loss_coef));
  const AlgorithmRecipe& a = r.algorithm;
  expect(a.use_kl_in_reward || a.kl_ctrl.kl_coef == 0.0 || a.kl_ctrl.kl_coef == KlControlRecipe().kl_coef,
         fmt::format("algorithm.kl_ctrl.kl_coef: {} is refused: the KL it weighs is off (algorithm.use_kl_in_reward is "
                     "false)",
                     a.kl_ctrl.kl_coef));
  // Above that the weight would fall by all of itself in a step, or below 0.
  const double answers = static_cast<double>(r.data.train_batch_size) * static_cast<double>(r.rollout.n);
  expect(!a.use_kl_in_reward || a.kl_ctrl.type != "adaptive" || 5 * a.kl_ctrl.horizon > answers,
         fmt::format("algorithm.kl_ctrl.horizon = {}: expected above {}, a fifth of the {} answers of a step",
                     a.kl_ctrl.horizon, answers / 5, answers));
  expect(!a.use_kl_in_reward || !a.filter_groups.enable || a.filter_groups.metric != "seq_final_reward",
         "algorithm.filter_groups.metric = seq_final_reward: expected acc, score or seq_reward, because "
         "algorithm.use_kl_in_reward is true: the KL is measured of the groups that are kept");
  const CorrectionRecipe& c = r.algorithm.rollout_correction;
  const std::string p = "algorithm.rollout_correction.";
  if (c.rollout_rs) {
    std::vector<algorithms::Rejection> rejections;
    const std::string fault = !c.rollout_rs_threshold
                                  ? "expected a bound for each of rollout_rs, or one for all, found none"
                                  : algorithms::parse_rejections(*c.rollout_rs, *c.rollout_rs_threshold, rejections);
    expect(fault.empty(), p + "rollout_rs_threshold: " + fault + " (" + p + "rollout_rs is " + *c.rollout_rs + ")");
  }
  const PolicyLossRecipe& loss = actor.policy_loss;
  expect(loss.loss_mode != "clip_cov" || loss.clip_cov_lb < loss.clip_cov_ub,
         fmt::format("actor_rollout_ref.actor.policy_loss.clip_cov_lb = {}: expected below clip_cov_ub = {}",
                     loss.clip_cov_lb, loss.clip_cov_ub));
  expect(!c.bypass_mode || actor.policy_loss.loss_mode == "vanilla",
         fmt::format("actor_rollout_ref.actor.policy_loss.loss_mode = {}: expected vanilla, because {}bypass_mode is "
                     "true: {}loss_type decides",
                     actor.policy_loss.loss_mode, p, p));
}

}  // namespace hone
