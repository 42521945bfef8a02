#include "loop/kl_reward.h"

#include <cmath>

#include "io/file.h"
#include "io/json.h"
#include "loop/group_sequences.h"
#include "loop/step_metrics.h"

namespace hone {

namespace {

std::string controller_file(const std::string& folder) { return io::join_path(folder, "kl_controller.json"); }

}  // namespace

KlReward::KlReward(const AlgorithmRecipe& recipe)
    : estimator_(*algorithms::kl_estimator(recipe.kl_penalty)),
      controller_{recipe.kl_ctrl.kl_coef, recipe.kl_ctrl.type == "adaptive", recipe.kl_ctrl.target_kl,
                  recipe.kl_ctrl.horizon},
      saved_coef_(controller_.coef) {}

void KlReward::apply(std::span<Group> groups, Metrics& metrics) {
  Spread of_answers;  // the mean over each answer's tokens
  for (Trajectory* answer : trained_answers(groups)) {
    Trajectory& t = *answer;
    const std::vector<float>& old = t.old_logprobs.empty() ? t.logprobs : t.old_logprobs;
    Spread of_tokens;
    t.token_rewards.assign(t.response_ids.size(), 0.0f);
    for (size_t i = 0; i < t.response_ids.size(); ++i) {
      if (!t.loss_mask.empty() && t.loss_mask[i] == 0) continue;
      const double kl = algorithms::token_kl(estimator_, old[i], t.ref_logprobs[i]).value;
      of_tokens.add(kl);
      t.token_rewards[i] = static_cast<float>(-controller_.coef * kl);
    }
    of_answers.add(of_tokens.mean());
  }
  metrics.set("actor/reward_kl_penalty", of_answers.mean());
  metrics.set("actor/reward_kl_penalty_coeff", controller_.coef);
  controller_.update(of_answers.mean(), of_answers.count());
}

void KlReward::save(const std::string& folder) const {
  io::write_json(controller_file(folder), io::Json::object({{"kl_coef", saved_coef_}}));
}

void KlReward::restore(const std::string& folder) {
  if (!controller_.adaptive || !io::exists(controller_file(folder))) return;
  const io::Json json = io::read_json(controller_file(folder));
  const io::JsonAt at(json, controller_file(folder));
  const double coef = at["kl_coef"].as_double();
  if (!(coef >= 0) || !std::isfinite(coef)) at["kl_coef"].fail(fmt::format("expected at least 0, found {}", coef));
  controller_.coef = saved_coef_ = coef;
}

}  // namespace hone
