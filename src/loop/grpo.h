// GRPO and its relatives: one step is draw prompts, roll out, score, advantage, train, publish.
#pragma once

#include "loop/recipe.h"

namespace hone {

struct RunFlags {
  bool check_only = false;  // stop after every check, before the model is loaded
  bool quiet = false;       // no progress, no step lines
};

// Runs a recipe from its first or its next step. Returns the exit code. Raises Error for everything a user can mend,
// all checks before the model is loaded.
int train_grpo(Recipe recipe, const RunFlags& flags);

}  // namespace hone
