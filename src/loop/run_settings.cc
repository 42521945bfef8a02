#include "loop/run_settings.h"

#include <algorithm>
#include <thread>

#include "config/print.h"

namespace hone {

int num_threads(int64_t wanted) {
  if (wanted > 0) return static_cast<int>(wanted);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

LrSchedule lr_schedule(const OptimRecipe& optim, int64_t run_steps) {
  LrSchedule schedule;
  schedule.lr = optim.lr;
  schedule.warmup_steps = optim.warmup_steps(run_steps);
  schedule.total_steps = optim.schedule_steps(run_steps);
  schedule.cosine = optim.lr_scheduler_type == "cosine";
  schedule.min_lr_ratio = optim.min_lr_ratio;
  schedule.num_cycles = optim.num_cycles;
  return schedule;
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
  options.effective_config = config::effective_yaml(schema);
  options.config_hash = fmt::format("{:016x}", schema.hash());
  return options;
}

}  // namespace hone
