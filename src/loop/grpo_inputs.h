// What a GRPO run knows before its model is loaded, every check included.
#pragma once

#include <vector>

#include "loop/model_inputs.h"
#include "loop/recipe.h"
#include "loop/run_settings.h"
#include "records/prompt.h"
#include "reward/overlong.h"
#include "reward/scorer.h"

namespace hone {

struct GrpoInputs : ModelInputs {
  std::vector<Prompt> train, validation;
  ScoringRules scoring;  // with the processes of the user's own scorer
};

// Raises Error as load_model_inputs does. flags.check_only: the weight files have to be there even if a checkpoint
// could stand in for them.
GrpoInputs load_grpo_inputs(const Recipe& recipe, DType dtype, const RunFlags& flags);

// At the beginning of a rollout phase; with over-sampling more than it ends with.
int64_t groups_in_flight(const Recipe& recipe);

// Of overlong shaping, where it is on.
std::optional<OverlongBuffer> overlong_buffer(const Recipe& recipe);

// Of a critic's trainer, whose micro-batches are the actor's.
TrainerOptions critic_trainer_options(const Recipe& recipe, const TrainerOptions& actor);

}  // namespace hone
