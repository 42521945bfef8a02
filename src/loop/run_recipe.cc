#include "loop/run_recipe.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "loop/checkpoint.h"
#include "loop/loggers.h"
#include "weights/adapter_folder.h"

namespace hone {

using config::Effect;
using config::Schema;

void add_run_fields(Schema& s, RunRecipe& run) {
  s.field("trainer.total_epochs", &run.total_epochs, "Passes over the training rows.")
      .at_least(1)
      .effect(Effect::length)
      .when("total_training_steps is null", [&run] { return !run.total_training_steps.has_value(); });
  s.field("trainer.total_training_steps", &run.total_training_steps, "Steps of the run; null = total_epochs decides.")
      .at_least(1)
      .effect(Effect::length)
      .also_called({"max_steps", "num_steps"});
  s.field("trainer.project_name", &run.project_name, "First part of the run's name.").effect(Effect::nothing);
  s.field("trainer.experiment_name", &run.experiment_name, "Second part of the run's name.").effect(Effect::nothing);
  s.field(
       "trainer.logger", &run.logger,
       "Where the numbers of a step go besides metrics.jsonl: console, file (verl's JSONL), tensorboard; other loggers "
       "of verl are passed over with a line.")
      .effect(Effect::nothing);
  s.field("trainer.save_freq", &run.save_freq,
          "Save every so many steps, and the last step in any case; -1 or 0 = the last one only.")
      .at_least(-1)
      .effect(Effect::nothing)
      .also_called({"save_steps"});
  s.field("trainer.test_freq", &run.test_freq, "Validate every so many steps and at the end; -1 or 0 = never.")
      .at_least(-1)
      .effect(Effect::nothing)
      .also_called({"eval_steps"});
  s.field("trainer.resume_mode", &run.resume_mode,
          "auto = from the newest checkpoint of the run folder if there is one; disable = from the start; resume_path "
          "= from trainer.resume_from_path.")
      .one_of({"auto", "disable", "resume_path"})
      .effect(Effect::nothing);
  s.field("trainer.resume_from_path", &run.resume_from_path, "The checkpoint to go on from, a global_step_N folder.")
      .path()
      .effect(Effect::nothing)
      .when("resume_mode is resume_path");
  s.field("trainer.resume_allow_changes", &run.resume_allow_changes,
          "Go on although the data, the reward function or the numeric mode differ from the checkpoint's.")
      .effect(Effect::nothing);
  s.field("trainer.default_local_dir", &run.default_local_dir,
          "The run folder: config.yaml, metrics.jsonl, rollouts/, checkpoints/global_step_N/.")
      .required()
      .path()
      .effect(Effect::nothing)
      .also_called({"output_dir"});
  s.field("trainer.watchdog_seconds", &run.watchdog_seconds,
          "When nothing comes on for so long, say what each thread and worker waits for; 0 = never.")
      .at_least(0)
      .effect(Effect::nothing)
      .also_called({"nccl_timeout", "heartbeat_timeout"});
  s.field("trainer.max_nonfinite_steps", &run.max_nonfinite_steps,
          "End with exit code 4 when not one update of so many steps in a row is finite; 0 = never.")
      .at_least(0)
      .effect(Effect::length);
  s.field("trainer.seed", &run.seed, "Seed of every random number of the run.").at_least(0).at_most(9e15);
  s.field("trainer.num_threads", &run.num_threads,
          "Threads; 0 = all cores that it may use. Results are the same for any number.")
      .at_least(0)
      .effect(Effect::nothing);
}

void add_rows_fields(Schema& s, RowsRecipe& r, const std::string& train_files, const std::string& val_files) {
  s.field("data.train_files", &r.train_files, train_files).required().path().effect(Effect::nothing);
  s.field("data.val_files", &r.val_files, val_files).path().effect(Effect::nothing);
  s.field("data.train_max_samples", &r.train_max_samples,
          "Use so many training rows, drawn by data.seed when data.shuffle is true, else the first ones; -1 = all.")
      .at_least(-1)
      .nonzero();
  s.field("data.val_max_samples", &r.val_max_samples,
          "Use so many validation rows, chosen as those of training; -1 = all.")
      .at_least(-1)
      .nonzero();
  s.field("data.shuffle", &r.shuffle, "Draw the training rows of an epoch in random order.");
  s.field("data.seed", &r.seed, "Seed of that order and of drawn rows; null = trainer.seed.")
      .at_least(0)
      .at_most(9e15)
      .when("data.shuffle is true", [&r] { return r.shuffle; });
}

void add_optim_fields(Schema& s, const std::string& p, OptimRecipe& o, const std::string& scheduler_key) {
  s.field(p + "lr", &o.lr, "Learning rate.").at_least(0).also_called({"learning_rate"});
  s.field(p + "lr_warmup_steps", &o.lr_warmup_steps,
          "Steps of linear warm-up; below 0 = lr_warmup_steps_ratio decides. Step k of them takes k / lr_warmup_steps "
          "of lr "
          "(verl: k - 1).")
      .at_least(-1)
      .also_called({"warmup_steps"});
  s.field(p + "lr_warmup_steps_ratio", &o.lr_warmup_steps_ratio, "Warm-up as a share of all steps.")
      .at_least(0)
      .at_most(1)
      .when("lr_warmup_steps is below 0", [&o] { return o.lr_warmup_steps < 0; })
      .also_called({"warmup_ratio"});
  s.field(p + "weight_decay", &o.weight_decay, "Decoupled weight decay of AdamW.").at_least(0);
  s.field(p + "betas", &o.betas, "Decay of the first and the second moment.").at_least(0).below(1);
  s.field(p + "moments", &o.moments,
          "How AdamW's moments are stored: float32, bfloat16 (half of it) or 8bit (a quarter, in blocks of 256); the "
          "smaller ones rounded at random, repeatably.")
      .one_of({"float32", "bfloat16", "8bit"});
  s.field(p + scheduler_key, &o.lr_scheduler_type, "Learning rate after warm-up.").one_of({"constant", "cosine"});
  const char* when = scheduler_key == "lr_scheduler" ? "lr_scheduler is cosine" : "lr_scheduler_type is cosine";
  const auto is_cosine = [&o] { return o.lr_scheduler_type == "cosine"; };
  s.field(p + "min_lr_ratio", &o.min_lr_ratio, "Lowest share of lr; null = 0.")
      .at_least(0)
      .at_most(1)
      .when(when, is_cosine);
  s.field(p + "num_cycles", &o.num_cycles, "Cosine cycles; 0.5 falls once.").at_least(0).when(when, is_cosine);
  s.field(p + "total_training_steps", &o.total_training_steps, "Length of the schedule; below 0 = that of the run.")
      .at_least(-1)
      .when("a warm-up ratio or the cosine is used",
            [&o] { return o.lr_scheduler_type == "cosine" || (o.lr_warmup_steps < 0 && o.lr_warmup_steps_ratio > 0); });
}

void add_recompute_fields(Schema& s, const std::string& p, RecomputeRecipe& r) {
  s.field(
       p + "recompute", &r.recompute,
       "What backward computes again rather than keep, with the same bits: none; selective = norms, rotation and "
       "SwiGLU; full = whole layers from their inputs, one at a time; auto = the first of them that fits the memory.")
      .one_of({"auto", "none", "selective", "full"})
      .effect(Effect::nothing)
      .also_called({"activation_checkpointing", "recompute_granularity"});
  s.field(p + "enable_gradient_checkpointing", &r.enable_gradient_checkpointing,
          "verl's key: true is recompute = full, false is none; null = as recompute says (verl's default is true).")
      .effect(Effect::nothing)
      .also_called({"gradient_checkpointing"});
}

void add_lora_fields(Schema& s, const std::string& p, LoraRecipe& lora) {
  const auto is_new = [&lora] { return lora.lora_rank > 0; };
  const auto is_on = [&lora] { return lora.is_on(); };
  s.field(p + "lora_rank", &lora.lora_rank,
          "Train low-rank adapters of this rank and nothing else; 0 = train all weights, or lora_adapter_path.")
      .at_least(0)
      .at_most(65536);
  s.field(p + "lora_alpha", &lora.lora_alpha, "The adapters' product counts lora_alpha / lora_rank times.")
      .at_least(0)
      .at_most(kLargestLoraAlpha)
      .when("lora_rank is above 0", is_new);
  s.field(p + "target_modules", &lora.target_modules,
          "Layers that get adapters: all-linear, or a list out of q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, "
          "down_proj.")
      .when("lora_rank is above 0", is_new);
  s.field(p + "exclude_modules", &lora.exclude_modules, "Layers out of the same list that get none.")
      .when("lora_rank is above 0", is_new);
  s.field(p + "lora_adapter_path", &lora.lora_adapter_path,
          "Folder of an adapter as PEFT saves it, to train on; its rank, alpha and layers count, and others given here "
          "have to be the same.")
      .path();
  s.field(
       p + "lora_save_merged", &lora.lora_save_merged,
       "Checkpoints also hold merged/, a Hugging Face folder with the adapters merged into the weights as the run has "
       "them: in bfloat16 the model's own are rounded to it, the sums are float32.")
      .effect(Effect::nothing)
      .when("adapters are trained", is_on)
      .also_called({"merge_adapter", "lora_merge"});
}

LoraConfig LoraRecipe::config() const {
  LoraConfig own{lora_rank, lora_alpha, {}};
  set_modules(own, target_modules, exclude_modules);
  if (!lora_adapter_path) return lora_rank > 0 ? own : LoraConfig();
  const weights::AdapterConfig adapter = weights::load_adapter_config(*lora_adapter_path);
  if (adapter.dropout != 0) {
    throw Error(fmt::format("lora_adapter_path: {}: lora_dropout: expected 0, found {}: there is no dropout here",
                            *lora_adapter_path, adapter.dropout),
                "set lora_dropout to 0 in its adapter_config.json to train on without");
  }
  const LoraConfig& found = adapter.lora;
  if (lora_rank > 0 && found != own) {
    throw Error(fmt::format("lora_adapter_path: {}: expected rank {}, alpha {} and modules {}, found {}, {} and {}",
                            *lora_adapter_path, own.rank, own.alpha, fmt::join(own.modules, " "), found.rank,
                            found.alpha, fmt::join(found.modules, " ")),
                "leave lora_rank at 0 to take them from the adapter");
  }
  return found;
}

void validate_lora(const std::string& p, const LoraRecipe& lora, io::Faults& faults) {
  if (lora.lora_rank > 0 && lora.lora_alpha == 0) {
    faults.add(fmt::format("{}lora_alpha: expected above 0, found 0: adapters would change nothing", p));
  }
  LoraConfig config;
  if (set_modules(config, lora.target_modules, lora.exclude_modules)) return;
  faults.add(
      fmt::format("{}target_modules = {} without exclude_modules = {}: expected all-linear, or some of q_proj, "
                  "k_proj, v_proj, o_proj, gate_proj, up_proj and down_proj",
                  p, fmt::join(lora.target_modules, " "), fmt::join(lora.exclude_modules, " ")));
}

std::optional<Recompute> RecomputeRecipe::choice() const {
  if (enable_gradient_checkpointing) return *enable_gradient_checkpointing ? Recompute::full : Recompute::none;
  for (const Recompute mode : {Recompute::none, Recompute::selective, Recompute::full}) {
    if (recompute == name(mode)) return mode;
  }
  return std::nullopt;
}

void validate_recompute(const std::string& p, const RecomputeRecipe& r, io::Faults& faults) {
  if (!r.enable_gradient_checkpointing || r.recompute == "auto" || r.recompute == name(*r.choice())) return;
  faults.add(fmt::format("{}recompute = {}: expected {}, as {}enable_gradient_checkpointing = {} says", p, r.recompute,
                         name(*r.choice()), p, *r.enable_gradient_checkpointing));
}

int64_t OptimRecipe::schedule_steps(int64_t run_steps) const {
  return total_training_steps >= 0 ? total_training_steps : run_steps;
}

int64_t OptimRecipe::warmup_steps(int64_t run_steps) const {
  if (lr_warmup_steps >= 0) return lr_warmup_steps;
  return static_cast<int64_t>(lr_warmup_steps_ratio * static_cast<double>(schedule_steps(run_steps)));
}

void validate_run(const RunRecipe& run, bool has_validation, io::Faults& faults) {
  if (run.resume_mode == "resume_path" && !run.resume_from_path.has_value()) {
    faults.add("trainer.resume_mode = resume_path: expected trainer.resume_from_path, found none");
  }
  if (run.resume_from_path.has_value() && !step_of_checkpoint(*run.resume_from_path)) {
    faults.add("trainer.resume_from_path: expected a folder global_step_N, found " + *run.resume_from_path);
  } else if (run.resume_from_path.has_value() && run.resume_mode != "resume_path") {
    faults.add(
        fmt::format("trainer.resume_from_path: expected trainer.resume_mode = resume_path, found {}, which does "
                    "not look at it",
                    run.resume_mode));
  }
  for (const std::string& name : run.logger) {
    if (is_own_logger(name) || is_foreign_logger(name)) continue;
    faults.add(
        fmt::format("trainer.logger: expected console, file, tensorboard or another logger of verl, found {}", name));
  }
  if (run.test_freq > 0 && !has_validation) {
    faults.add(fmt::format("trainer.test_freq = {}: expected data.val_files, found none", run.test_freq));
  }
}

void validate_optim(const std::string& prefix, const OptimRecipe& optim, io::Faults& faults) {
  if (optim.betas.size() != 2) {
    faults.add(fmt::format("{}betas: expected two numbers, found {}", prefix, optim.betas.size()));
  }
}

void note_foreign_loggers(const RunRecipe& run, std::vector<std::string>& notes) {
  for (const std::string& name : run.logger) {
    if (!is_foreign_logger(name)) continue;
    notes.push_back(fmt::format(
        "trainer.logger: {} is not there; metrics.jsonl holds every number, and tensorboard is there", name));
  }
}

}  // namespace hone
