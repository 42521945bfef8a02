// The part of the recipe that says how answers are drawn: the engine, early stop, validation's sampling, speculation.
#pragma once

#include "loop/recipe.h"

namespace hone {

void add_rollout_fields(config::Schema& schema, RolloutRecipe& rollout);
void add_speculation_fields(config::Schema& schema, SpeculativeRecipe& speculation);

}  // namespace hone
