// Supervised fine-tuning: mean negative log-prob of the responses' tokens, the prompts without loss.
#pragma once

#include "loop/run_settings.h"
#include "loop/sft_recipe.h"

namespace hone {

// Runs a recipe from its first or its next step. Returns the exit code. Raises Error as train_grpo does.
int train_sft(SftRecipe recipe, const RunFlags& flags);

}  // namespace hone
