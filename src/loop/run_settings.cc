#include "loop/run_settings.h"

#include <fmt/format.h>

#include "config/print.h"

namespace hone {

LrSchedule lr_schedule(const OptimRecipe& optim, int64_t run_steps) {
  LrSchedule schedule;
  schedule.lr = optim.lr;
  schedule.warmup_steps = optim.warmup_steps(run_steps);
  schedule.total_steps = optim.schedule_steps(run_steps);
  schedule.cosine = optim.lr_scheduler_type == "cosine";
  schedule.min_lr_ratio = optim.min_lr_ratio.value_or(0.0);
  schedule.num_cycles = optim.num_cycles;
  return schedule;
}

TrainerOptions trainer_options(const OptimRecipe& optim, double grad_clip, int64_t micro_batch_tokens) {
  TrainerOptions options;
  options.optimizer.beta1 = static_cast<float>(optim.betas[0]);
  options.optimizer.beta2 = static_cast<float>(optim.betas[1]);
  options.optimizer.weight_decay = static_cast<float>(optim.weight_decay);
  options.optimizer.grad_clip = static_cast<float>(grad_clip);
  for (const MomentForm form : {MomentForm::f32, MomentForm::bf16, MomentForm::bits8}) {
    if (optim.moments == name(form)) options.optimizer.moments = form;
  }
  options.micro_batch_tokens = micro_batch_tokens;
  return options;
}

std::string training_form(const LoraConfig& lora, MomentForm moments) {
  const std::string trained = lora.rank == 0 ? "all weights"
                                             : fmt::format("adapters of rank {}, alpha {}, for {}", lora.rank,
                                                           lora.alpha, fmt::join(lora.modules, " "));
  return fmt::format("{}, {} moments", trained, name(moments));
}

RunOptions run_options(const RunRecipe& run, const config::Schema& schema, int64_t steps_per_epoch,
                       const RunFlags& flags) {
  RunOptions options;
  options.folder = run.default_local_dir;
  options.total_steps = run.total_training_steps.value_or(run.total_epochs * steps_per_epoch);
  options.save_freq = run.save_freq;
  options.resume_mode = run.resume_mode;
  options.resume_from_path = run.resume_from_path.value_or("");
  options.allow_changes = run.resume_allow_changes;
  options.quiet = flags.quiet;
  options.loggers = {run.logger, run.project_name, run.experiment_name};
  options.watchdog_seconds = run.watchdog_seconds;
  options.max_nonfinite_steps = run.max_nonfinite_steps;
  options.changes_since = [schema](const io::Json& saved) { return schema.differences(saved); };
  options.effective_config = config::effective_yaml(schema);
  return options;
}

int tell_checked(const RunOptions& options) {
  find_start(options);
  fmt::print("checked: {}\n", options.summary);
  return 0;
}

}  // namespace hone
