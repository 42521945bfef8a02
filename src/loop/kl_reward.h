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

  // Trajectory::token_rewards = -weight * KL of each id with loss, from old and reference log-probs.
  void apply(std::span<Group> groups, Metrics& metrics);
  // After a whole step: the weight follows the KL of its groups.
  void end_step();

  // An adaptive weight in a file of the training state's folder, JSON. Where there is none, as after a fixed one, it
  // begins anew, and a line says so.
  void save(const std::string& folder) const;
  void restore(const std::string& folder);

 private:
  algorithms::KlEstimator estimator_;
  algorithms::KlController controller_;
  double measured_kl_ = 0;  // of the step: mean over answers of the mean over tokens
  int64_t num_measured_ = 0;
};

// The file.
std::string kl_controller_path(const std::string& state_folder);

}  // namespace hone
