// Recipe: the typed option tree of `hone train`, under verl's full keys; member names are the last parts of those keys.
// What each means, its range and when it has an effect is listed once, in recipe.cc (`schema_of`); keys of verl that
// are accepted without a meaning or refused unless neutral are in recipe_verl.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/schema.h"
#include "io/faults.h"
#include "loop/run_recipe.h"

namespace hone {

struct SamplerRecipe {
  std::optional<std::string> class_path, class_name;
  int64_t bucket_size = 512;
  double ema_decay = 0.7;
  bool shuffle_batch_blocks = true;
  std::optional<int64_t> default_length;
  std::string order_in_bucket = "random";
};

struct DataRecipe : RowsRecipe {
  std::string prompt_key = "prompt", reward_fn_key = "data_source";
  std::optional<std::string> default_data_source, answer_key, prompt_suffix;
  std::string text_prompts = "plain";
  int64_t max_prompt_length = 512, max_response_length = 512;
  int64_t train_batch_size = 1024;
  std::optional<int64_t> gen_batch_size;
  bool filter_overlong_prompts = false;
  std::string truncation = "error";
  SamplerRecipe sampler;
  io::Json apply_chat_template_kwargs = io::Json::object();
};

struct ModelRecipe {
  std::string path;
  std::string load_format = "auto";
  std::optional<std::string> custom_chat_template;
  RecomputeRecipe recompute;
  LoraRecipe lora;
};

struct PolicyLossRecipe {
  std::string loss_mode = "vanilla";
  double clip_cov_ratio = 0.0002, clip_cov_lb = 1.0, clip_cov_ub = 5.0;
  double kl_cov_ratio = 0.0002, ppo_kl_coef = 0.1;
};

struct ActorRecipe {
  int64_t ppo_mini_batch_size = 256;
  int64_t ppo_max_token_len_per_gpu = 16384;
  bool use_dynamic_bsz = false;
  std::optional<int64_t> ppo_micro_batch_size_per_gpu;
  bool use_prefix_grouper = false;
  double clip_ratio = 0.2;
  std::optional<double> clip_ratio_low, clip_ratio_high;
  double clip_ratio_c = 3.0;
  PolicyLossRecipe policy_loss;
  double tau_pos = 1.0, tau_neg = 1.05;
  std::string loss_agg_mode = "token-mean";
  std::optional<double> loss_scale_factor;
  double entropy_coeff = 0.0;
  bool use_kl_loss = false;
  double kl_loss_coef = 0.001;
  std::string kl_loss_type = "low_var_kl";
  bool recompute_old_log_prob = false;
  int64_t ppo_epochs = 1;
  bool shuffle = false;
  double grad_clip = 1.0;
  OptimRecipe optim;
  double low() const { return clip_ratio_low.value_or(clip_ratio); }
  double high() const { return clip_ratio_high.value_or(clip_ratio); }
};

struct CriticRecipe {  // without a value: as the actor
  CriticRecipe() { optim.lr = 1e-5; }
  std::optional<std::string> path;
  OptimRecipe optim;
  double grad_clip = 1.0;
  std::optional<int64_t> ppo_mini_batch_size, ppo_epochs;
  bool shuffle = false;
  double cliprange_value = 0.5;
  std::optional<std::string> loss_agg_mode;
};

struct ValidationSampling {
  int64_t n = 1;
  bool do_sample = false;
  double temperature = 0.0;
  double top_p = 1.0;
  int64_t top_k = -1;
};

struct SpeculativeRecipe {  // engine_kwargs.vllm.speculative_config
  std::optional<std::string> method;
  int64_t num_speculative_tokens = 8;
  std::optional<int64_t> disable_by_batch_size;
  bool from_group = true, from_history = true;
  int64_t max_history_tokens = 1 << 20;
};

struct EarlyStopRecipe {
  bool enable = false;
  double factor = 2.0;
  int64_t min_tokens = 10000;
};

struct RolloutRecipe {
  int64_t n = 1;
  double temperature = 1.0;
  std::string dtype = "auto";
  int64_t max_num_batched_tokens = 8192, max_num_seqs = 256;
  std::optional<int64_t> max_model_len, prompt_length, response_length;
  bool enable_chunked_prefill = true, enable_prefix_caching = true;
  double gpu_memory_utilization = 0.5;
  bool free_cache_engine = true;
  bool ignore_eos = false;
  int64_t task_queue = 1;
  double over_sample_rate = 0.0;
  EarlyStopRecipe early_stop;
  ValidationSampling val_kwargs;
  SpeculativeRecipe speculative_config;
};

struct CorrectionRecipe {
  std::optional<std::string> rollout_is;
  double rollout_is_threshold = 2.0;
  bool rollout_is_batch_normalize = false;
  std::optional<std::string> rollout_rs, rollout_rs_threshold;
  bool bypass_mode = false;
  std::string loss_type = "ppo_clip";
};

struct FilterGroupsRecipe {  // dynamic sampling
  bool enable = false;
  std::optional<std::string> metric;
  int64_t max_num_gen_batches = 0;
  bool keep_surplus = false;
};

struct KlControlRecipe {
  std::string type = "fixed";
  double kl_coef = 0.001, target_kl = 0.1, horizon = 10000;
};

struct AlgorithmRecipe {
  std::string adv_estimator = "grpo";
  bool norm_adv_by_std_in_grpo = true;
  double gamma = 1.0, lam = 1.0;
  bool use_kl_in_reward = false;
  std::string kl_penalty = "kl";
  KlControlRecipe kl_ctrl;
  CorrectionRecipe rollout_correction;
  FilterGroupsRecipe filter_groups;
};

struct OverlongRecipe {  // reward_kwargs.overlong_buffer_cfg
  bool enable = false;
  int64_t len = 0;
  double penalty_factor = 0.0;
  bool log = false;
};

struct CustomRewardRecipe {
  std::optional<std::string> path, name = "compute_score";
  io::Json reward_kwargs = io::Json::object();
};

struct HttpRewardRecipe {
  std::optional<std::string> url, headers_env;
  int64_t retries = 3;
};

struct RewardRecipe {
  CustomRewardRecipe custom;
  HttpRewardRecipe http;
  bool run_code = false;
  std::optional<int64_t> num_workers, memory_limit_mb;
  double timeout = 60;
  std::string reward_manager = "naive";
  std::optional<int64_t> max_resp_len;
  OverlongRecipe overlong;
  io::Json scorers = io::Json::object();  // data source: scorer
  double answer_weight = 1, format_weight = 0, length_weight = 0;
  std::string format = "boxed";
  double max_absent_ratio = 0.5;
  bool shuffle = false;
};

struct TrainerRecipe : RunRecipe {
  bool val_before_train = true, val_only = false;
  int64_t critic_warmup = 0;
  std::optional<int64_t> max_actor_ckpt_to_keep;
  std::optional<std::string> rollout_data_dir, validation_data_dir;
  int64_t log_val_generations = 0;
};

struct Recipe {
  DataRecipe data;
  ModelRecipe model;
  ActorRecipe actor;
  RolloutRecipe rollout;
  CriticRecipe critic;
  AlgorithmRecipe algorithm;
  RewardRecipe reward;
  TrainerRecipe trainer;
  uint64_t data_seed() const { return static_cast<uint64_t>(data.seed.value_or(trainer.seed)); }
  bool has_reference() const { return actor.use_kl_loss || algorithm.use_kl_in_reward; }
  bool has_critic() const { return algorithm.adv_estimator == "gae"; }
  const std::string& critic_folder() const { return critic.path ? *critic.path : model.path; }  // it begins with
  int64_t critic_mini_batch_size() const { return critic.ppo_mini_batch_size.value_or(actor.ppo_mini_batch_size); }
  int64_t gen_batch_size() const { return data.gen_batch_size.value_or(data.train_batch_size); }
  int64_t max_resp_len() const { return reward.max_resp_len.value_or(data.max_response_length); }
};

// Bound to `recipe`, which must outlive it.
config::Schema schema_of(Recipe& recipe);
// What no field can see alone: sizes that do not fit together, and the like. Each fault begins with the key it is about
// and names in full every other key that it looks at.
void validate(const Recipe& recipe, io::Faults& faults);
// From a YAML file (none when `path` is empty) and key=value arguments. One Error lists all faults. `notes` gets a line
// for each key that was accepted without a meaning.
Recipe load_recipe(const std::string& path, const std::vector<std::string>& arguments, std::vector<std::string>& notes);

// verl's keys beyond the honoured ones.
void add_verl_rules(config::Schema& schema);

}  // namespace hone
