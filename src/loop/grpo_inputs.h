// What a GRPO run knows before its model is loaded, every check included.
#pragma once

#include <vector>

#include "loop/recipe.h"
#include "models/model_config.h"
#include "records/prompt.h"
#include "rollout/engine.h"
#include "text/tokenizer.h"
#include "train/trainer.h"

namespace hone {

struct GrpoInputs {
  Tokenizer tokenizer;
  std::vector<int32_t> end_ids;
  std::vector<Prompt> train, validation;
  ModelConfig config;
};

// Raises Error listing every fault of tokenizer, model configuration and data, and when the memory does not suffice.
// `check_only`: the weight files have to be there even if a checkpoint could stand in for them.
GrpoInputs load_grpo_inputs(const Recipe& recipe, DType dtype, bool quiet, bool check_only);

TrainerOptions trainer_options(const Recipe& recipe, const Tokenizer& tokenizer);
EngineOptions engine_options(const Recipe& recipe);

}  // namespace hone
