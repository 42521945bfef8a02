// A run of GRPO or one of its relatives, from a recipe.
#pragma once

#include "loop/recipe.h"
#include "loop/run_settings.h"

namespace hone {

// Runs a recipe from its first or its next step. Returns the exit code. Raises Error for everything a user can mend;
// options, data, configuration and memory are checked before the model is loaded, its tensors before anything is run.
int train_grpo(Recipe recipe, const RunFlags& flags);

}  // namespace hone
