// What the option trees of `hone train` and `hone sft` share: which rows, the optimizer and the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/schema.h"
#include "io/faults.h"
#include "models/lora.h"
#include "models/recompute.h"
#include "train/moments.h"

namespace hone {

using Texts = std::vector<std::string>;

// Which rows a run uses, and in which order.
struct RowsRecipe {
  Texts train_files, val_files;
  int64_t train_max_samples = -1, val_max_samples = -1;
  bool shuffle = true;
  std::optional<int64_t> seed;  // nothing: that of the run
};

struct OptimRecipe {
  double lr = 1e-6;
  int64_t lr_warmup_steps = -1;  // below 0: the ratio counts
  double lr_warmup_steps_ratio = 0.0;
  double weight_decay = 0.01;
  std::vector<double> betas = {0.9, 0.999};
  std::string lr_scheduler_type = "constant";
  std::optional<double> min_lr_ratio = 0.0;
  double num_cycles = 0.5;
  std::string moments = "float32";
  int64_t total_training_steps = -1;  // of the schedule; below 0: those of the run
  // For a run of so many steps.
  int64_t schedule_steps(int64_t run_steps) const;
  int64_t warmup_steps(int64_t run_steps) const;
};

// What backward keeps of the forward.
struct RecomputeRecipe {
  std::string recompute = "auto";
  std::optional<bool> enable_gradient_checkpointing;
  std::optional<Recompute> choice() const;  // nothing: what the memory allows
};

struct LoraRecipe {
  int64_t lora_rank = 0;
  double lora_alpha = 16;
  Texts target_modules = {"all-linear"}, exclude_modules;
  std::optional<std::string> lora_adapter_path;
  bool lora_save_merged = false;
  bool is_on() const { return lora_rank > 0 || lora_adapter_path.has_value(); }
  // Of the run; looks into the folder of the adapter where there is one. Raises Error when the two do not agree.
  LoraConfig config() const;
};

struct RunRecipe {
  int64_t total_epochs = 30;
  std::optional<int64_t> total_training_steps;
  std::string project_name = "hone", experiment_name = "grpo";
  Texts logger = {"console"};
  int64_t save_freq = -1, test_freq = -1;
  std::string resume_mode = "auto";
  std::optional<std::string> resume_from_path;
  bool resume_allow_changes = false;
  std::string default_local_dir = "runs/${trainer.project_name}/${trainer.experiment_name}";
  double watchdog_seconds = 600;
  int64_t max_nonfinite_steps = 10;
  int64_t seed = 1;
  int64_t num_threads = 0;
};

// The two texts are the help of the files, whose rows differ.
void add_rows_fields(config::Schema& schema, RowsRecipe& rows, const std::string& train_files,
                     const std::string& val_files);
// `prefix` ends with a dot; verl's SFT calls the scheduler's key otherwise.
void add_optim_fields(config::Schema& schema, const std::string& prefix, OptimRecipe& optim,
                      const std::string& scheduler_key);
// `prefix`: that of the model's keys.
void add_recompute_fields(config::Schema& schema, const std::string& prefix, RecomputeRecipe& recompute);
void add_lora_fields(config::Schema& schema, const std::string& prefix, LoraRecipe& lora);
void add_run_fields(config::Schema& schema, RunRecipe& run);

void validate_recompute(const std::string& prefix, const RecomputeRecipe& recompute, io::Faults& faults);
void validate_optim(const std::string& prefix, const OptimRecipe& optim, io::Faults& faults);
void validate_lora(const std::string& prefix, const LoraRecipe& lora, io::Faults& faults);
void validate_run(const RunRecipe& run, bool has_validation, io::Faults& faults);
// A line for each logger that verl has and Hone does not.
void note_foreign_loggers(const RunRecipe& run, std::vector<std::string>& notes);

}  // namespace hone
