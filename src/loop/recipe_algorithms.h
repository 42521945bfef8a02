// The part of the recipe that says what is learnt: estimator, policy loss, KL loss, rollout correction.
#pragma once

#include "io/faults.h"
#include "loop/recipe.h"

namespace hone {

void add_algorithm_fields(config::Schema& schema, AlgorithmRecipe& algorithm);
void add_policy_loss_fields(config::Schema& schema, Recipe& recipe);
// Each fault begins with the key it is about.
void validate_algorithms(const Recipe& recipe, io::Faults& faults);

}  // namespace hone
