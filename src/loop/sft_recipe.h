// SftRecipe: the typed option tree of `hone sft`, under the keys of verl's SFT trainer.
#pragma once

#include "loop/run_recipe.h"

namespace hone {

struct SftDataRecipe : RowsRecipe {
  std::string prompt_key = "question", response_key = "answer";
  std::string messages_key = "messages", tools_key = "tools", enable_thinking_key = "enable_thinking";
  bool mask_history = false;
  io::Json apply_chat_template_kwargs = io::Json::object();
  int64_t train_batch_size = 256;
  int64_t max_length = 1024;
  std::string truncation = "error";
  int64_t max_token_len_per_gpu = 8192;
};

struct SftModelRecipe {
  std::string partial_pretrain;
  std::string init_config;
  std::string load_format = "auto";
  std::optional<std::string> custom_chat_template;
  std::string dtype = "auto";
  RecomputeRecipe recompute;
  LoraRecipe lora;
};

struct SftOptimRecipe : OptimRecipe {
  SftOptimRecipe() {
    lr = 1e-5;
    betas = {0.9, 0.95};
    lr_warmup_steps_ratio = 0.1;
    lr_scheduler_type = "cosine";
  }
  double clip_grad = 1.0;
};

struct EarlyStoppingRecipe {
  std::optional<int64_t> patience;
  double threshold = 0.0;
};

struct SftTrainerRecipe : RunRecipe {
  SftTrainerRecipe() {
    total_epochs = 4;
    experiment_name = "sft";
  }
  std::optional<int64_t> max_ckpt_to_keep;
  EarlyStoppingRecipe early_stopping;
};

struct SftRecipe {
  SftDataRecipe data;
  SftModelRecipe model;
  SftOptimRecipe optim;
  SftTrainerRecipe trainer;
  uint64_t data_seed() const { return static_cast<uint64_t>(data.seed.value_or(trainer.seed)); }
};

// As for Recipe in loop/recipe.h.
config::Schema schema_of(SftRecipe& recipe);
void validate(const SftRecipe& recipe, io::Faults& faults);
SftRecipe load_sft_recipe(const std::string& path, const std::vector<std::string>& arguments,
                          std::vector<std::string>& notes);

}  // namespace hone
