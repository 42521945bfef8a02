// What the recipe's names of algorithms stand for.
#pragma once

#include "algorithms/advantage.h"
#include "loop/recipe.h"
#include "train/objective.h"

namespace hone {

Objective policy_objective(const Recipe& recipe);
// The policy loss that runs, which in bypass mode is that of loss_type; nothing where the name is of none.
const algorithms::PolicyLoss* policy_loss_of(const Recipe& recipe);
algorithms::AdvantageOptions advantage_options(const AlgorithmRecipe& recipe);
algorithms::RolloutCorrection rollout_correction(const CorrectionRecipe& recipe);

}  // namespace hone
