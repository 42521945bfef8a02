// KlReward: takes the KL to the reference policy from the rewards of tokens. Its weight is all of its state.
#pragma once

#include <span>
#include <string>

#include "algorithms/kl.h"
#include "algorithms/kl_controller.h"
#include "loop/metrics.h"
#include "loop/recipe.h"
#include "records/trajectory.h"

namespace hone {

class KlReward {
 public:
  explicit KlReward(const AlgorithmRecipe& recipe);

  // Trajectory::token_rewards = -weight * KL of each id with loss, from old and reference log-probs; the weight then
  // follows the KL of these groups.
  void apply(std::span<Group> groups, Metrics& metrics);

  // JSON in a file of the training state's folder; it begins anew where there is none.
  void save(const std::string& folder) const;
  void restore(const std::string& folder);
  // After the last whole step: what is saved.
  void end_step() { saved_coef_ = controller_.coef; }

 private:
  algorithms::KlEstimator estimator_;
  algorithms::KlController controller_;
  double saved_coef_;
};

}  // namespace hone
