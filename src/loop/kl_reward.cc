#include "loop/kl_reward.h"

#include <cmath>

#include "io/file.h"
#include "io/json.h"
#include "loop/group_sequences.h"
#include "loop/step_metrics.h"

namespace hone {

KlReward::KlReward(const AlgorithmRecipe& recipe)
    : estimator_(*algorithms::kl_estimator(recipe.kl_penalty)),
      controller_{recipe.kl_ctrl.kl_coef, recipe.kl_ctrl.type == "adaptive", recipe.kl_ctrl.target_kl,
                  recipe.kl_ctrl.horizon} {}

void KlReward::apply(std::span<Group> groups, Metrics& metrics) {
  Spread of_answers;  // the mean over each answer's tokens; a rejected answer has none
  for (Trajectory* answer : trained_answers(groups)) {
    Trajectory& t = *answer;
    const std::vector<float>& old = t.effective_old_logprobs();
    Spread of_tokens;
    t.token_rewards.assign(t.response_ids.size(), 0.0f);
    for (size_t i = 0; i < t.response_ids.size(); ++i) {
      if (!t.has_loss(i)) continue;
      const double kl = algorithms::token_kl(estimator_, old[i], t.ref_logprobs[i]).value;
      of_tokens.add(kl);
      t.token_rewards[i] = static_cast<float>(-controller_.coef * kl);
    }
    if (of_tokens.count() > 0) of_answers.add(of_tokens.mean());
  }
  measured_kl_ = of_answers.mean();
  num_measured_ = of_answers.count();
  metrics.set("actor/reward_kl_penalty", measured_kl_);
  metrics.set("actor/reward_kl_penalty_coeff", controller_.coef);
}

void KlReward::end_step() { controller_.update(measured_kl_, num_measured_); }

std::string kl_controller_path(const std::string& state_folder) {
  return io::join_path(state_folder, "kl_controller.json");
}

void KlReward::save(const std::string& folder) const {
  if (!controller_.adaptive) return;
  io::write_json(kl_controller_path(folder), io::Json::object({{"kl_coef", controller_.coef}}));
}

void KlReward::restore(const std::string& folder) {
  if (!controller_.adaptive) return;
  const std::string path = kl_controller_path(folder);
  if (!io::exists(path)) {
    fmt::print(stderr, "note: {} is not there: the weight of the KL in the reward begins with {}\n", path,
               controller_.coef);
    return;
  }
  const io::Json json = io::read_json(path);
  const io::JsonAt at(json, path);
  const double coef = at["kl_coef"].as_double();
  if (!(coef >= 0) || !std::isfinite(coef)) at["kl_coef"].fail(fmt::format("expected at least 0, found {}", coef));
  controller_.coef = coef;
}

}  // namespace hone
