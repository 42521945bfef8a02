// What the recipe's names of algorithms stand for.
#pragma once

#include "algorithms/advantage.h"
#include "loop/recipe.h"
#include "train/objective.h"

namespace hone {

Objective policy_objective(const Recipe& recipe);
algorithms::AdvantageOptions advantage_options(const AlgorithmRecipe& recipe);
algorithms::RolloutCorrection rollout_correction(const CorrectionRecipe& recipe);

}  // namespace hone
