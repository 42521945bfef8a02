// From the options that all runs share to what the parts take.
#pragma once

#include "config/schema.h"
#include "loop/run.h"
#include "loop/run_recipe.h"
#include "train/lr_schedule.h"
#include "train/trainer.h"

namespace hone {

struct RunFlags {
  bool check_only = false;  // stop after every check, before the model is loaded
  bool quiet = false;       // no progress, no step lines
};

LrSchedule lr_schedule(const OptimRecipe& optim, int64_t run_steps);

// Everything but valid_vocab, which the tokenizer says.
TrainerOptions trainer_options(const OptimRecipe& optim, double grad_clip, int64_t micro_batch_tokens);

// TrainingState::form.
std::string training_form(const LoraConfig& lora, MomentForm moments);

// Everything but kind, summary, max_to_keep, form, data_hash and numeric_mode, which differ between runs. What the
// fields of the schema stand for outlives the options.
RunOptions run_options(const RunRecipe& run, const config::Schema& schema, int64_t steps_per_epoch,
                       const RunFlags& flags);

// For flags.check_only: looks where the run would start and says what was checked; the exit code is 0.
int tell_checked(const RunOptions& options);

}  // namespace hone
