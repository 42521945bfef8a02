#include "loop/grpo.h"

#include "loop/grpo_inputs.h"
#include "loop/grpo_training.h"
#include "loop/numeric_mode.h"
#include "prompts/data_hash.h"
#include "prompts/prompt_set.h"

namespace hone {

namespace {

// What a step is made of, in one sentence.
std::string sizes_text(const Recipe& recipe, int64_t total_steps) {
  const int64_t prompts = recipe.data.train_batch_size, mini = recipe.actor.ppo_mini_batch_size,
                epochs = recipe.actor.ppo_epochs, updates = (prompts + mini - 1) / mini;
  std::string text = fmt::format("{} steps of {} prompts x {} answers", total_steps, prompts, recipe.rollout.n);
  if (recipe.algorithm.filter_groups.enable) {
    text = fmt::format("{}{}, out of generation batches of {} prompts",
                       recipe.trainer.total_training_steps ? "" : "at most ", text, recipe.gen_batch_size());
  }
  text += fmt::format(", updates of {} prompts", mini);
  if (prompts % mini != 0) text += fmt::format(" (the last of {})", prompts % mini);
  if (updates * epochs > 1) text += fmt::format(", {} a step", updates * epochs);
  if (epochs > 1) text += fmt::format(" in {} passes", epochs);
  return text;
}

// Of the scorer outside of this program; empty without one.
std::string scorer_hash(const ScoringRules& scoring) {
  const std::string mark = scoring.custom ? scoring.custom->mark() : "";
  if (mark.empty()) return "";
  DataHash hash;
  hash.add(mark);
  return fmt::format("{:016x}", hash.value());
}

}  // namespace

int train_grpo(Recipe recipe, const RunFlags& flags) {
  kernels::Context ctx(resolve_threads(recipe.trainer.num_threads));
  const DType dtype = resolve_dtype(recipe.rollout.dtype, ctx.target);
  const GrpoInputs inputs = load_grpo_inputs(recipe, dtype, flags);
  const PromptSource source(inputs.train, prompt_source_options(recipe));
  RunOptions options = run_options(recipe.trainer, schema_of(recipe), source.batches_per_epoch(), flags);
  options.kind = "grpo";
  options.val_only = recipe.trainer.val_only;
  options.max_to_keep = recipe.trainer.max_actor_ckpt_to_keep.value_or(0);
  options.data_hash = fmt::format("{:016x}", data_hash(inputs.train, inputs.end_ids.ids));
  options.scorer_hash = scorer_hash(inputs.scoring);
  options.numeric_mode = numeric_mode(dtype, ctx.target);
  options.num_parameters = inputs.saved_parameters(recipe.model.lora.lora_save_merged);
  if (inputs.critic) options.num_parameters += inputs.critic->num_parameters();
  options.form = training_form(inputs.lora, inputs.trainer.optimizer.moments);
  if (recipe.has_critic()) options.form += fmt::format("; a critic, {} moments", recipe.critic.optim.moments);
  options.summary = fmt::format("{}; {}, {} on {}, {} threads, recomputing {}", sizes_text(recipe, options.total_steps),
                                inputs.parameters_text(), options.numeric_mode, ctx.target.name, ctx.team.num_threads(),
                                name(inputs.trainer.recompute));
  if (flags.check_only) return tell_checked(options);
  Run run(std::move(options));
  if (inputs.scoring.custom) inputs.scoring.custom->keep_output(run.folder("rewards.log"));
  GrpoTraining training(recipe, inputs, ctx, run, dtype);
  return training.loop();
}

}  // namespace hone
