// verl's keys of data, rewards, algorithm and trainer beyond the honoured ones, and old names.
#include "loop/recipe_verl.h"

#include "loop/recipe.h"

namespace hone {
namespace verl {
namespace {

using config::Schema;
using io::Json;

void add_data(Schema& s) {
  const std::string p = "data.";
  s.accepted(p + "val_batch_size", ValueKind::integer, "validation answers share the engine with no regard to batches");
  accept(s, p, kRows,
         {{"dataloader_num_workers", 8}, {"filter_overlong_prompts_workers", 1}, {"cache_dir", ValueKind::text}});
  accept(s, p, "rows carry all of it",
         {{"return_raw_chat", true}, {"return_raw_input_ids", false}, {"return_full_prompt", false}});
  accept(s, p, kPrompts,
         {{"return_multi_modal_inputs", true},
          {"image_key", "images"},
          {"video_key", "videos"},
          {"image_patch_size", 14}});
  s.accepted(p + "validation_shuffle", false, "the order of validation changes no answer");
  s.accepted(p + "trust_remote_code", false, "no code comes with a model");
  s.accepted(p + "use_shm", false, "files are mapped");
  accept(s, p, kOff,
         {{"custom_cls.name", ValueKind::text}, {"datagen.name", ValueKind::text}, {"need_tools_kwargs", false}});
  s.refused(p + "custom_cls.path", ValueKind::text, "data sets of your own are not there yet");
  s.refused(p + "datagen.path", ValueKind::text, kNotYet);
  s.refused(p + "tokenizer", ValueKind::text, "the tokenizer is that of the model");
  s.refused(p + "tool_config_path", ValueKind::text, kNotYet);
}

// Overlong shaping stands in several places, by the age of the script.
void rename_overlong(Schema& s, const std::string& p) {
  for (const char* key : {"enable", "len", "penalty_factor", "log"}) {
    s.renamed(p + key, std::string("reward_model.reward_kwargs.overlong_buffer_cfg.") + key);
  }
}

void add_manager(Schema& s, const std::string& p) {
  s.accepted(p + "source", "register", "rewards come from the scorer of a row");
  s.renamed(p + "name", "reward_model.reward_manager");
  s.refused(p + "module.path", ValueKind::text, "reward managers of your own are not there yet");
  s.accepted(p + "module.name", ValueKind::text, kOff);
}

void add_sandbox(Schema& s, const std::string& p) {
  s.refused(p + "url", ValueKind::text, "sandboxes are not there yet");
  accept(s, p, kOff, {{"max_concurrent", 64}, {"memory_limit_mb", 1024}});
}

void add_rewards(Schema& s) {
  const std::string p = "reward_model.";
  s.refused(p + "enable", {false}, "reward models are not there yet");
  accept(s, p, "there is no reward model",
         {{"enable_resource_pool", false},
          {"n_gpus_per_node", 8},
          {"nnodes", 0},
          {"strategy", "fsdp"},
          {"model.input_tokenizer", ValueKind::text},
          {"model.path", ValueKind::text},
          {"model.external_lib", ValueKind::text},
          {"model.trust_remote_code", false},
          {"model.use_shm", false},
          {"model.use_remove_padding", false},
          {"model.use_fused_kernels", false},
          {"micro_batch_size", ValueKind::integer},
          {"micro_batch_size_per_gpu", ValueKind::integer},
          {"max_length", ValueKind::integer},
          {"use_dynamic_bsz", false},
          {"forward_max_token_len_per_gpu", 32768},
          {"ulysses_sequence_parallel_size", 1},
          {"nccl_timeout", 600},
          {"rollout.*", ValueKind::any},
          {"data_processor_config.*", ValueKind::any}});
  s.alternatives(p + "micro_batch_size", p + "micro_batch_size_per_gpu");
  accept(s, p, "scorers are quick, and run when all answers of the step are there",
         {{"launch_reward_fn_async", false},
          {"use_reward_loop", true},
          {"reward_loop_source", "register"},
          {"reward_loop_module_path", ValueKind::text},
          {"reward_loop_class_name", ValueKind::text}});
  add_sandbox(s, p + "sandbox_fusion.");
  const char* managers = "reward managers of your own are not there yet";
  s.refused(p + "reward_kwargs.*", {}, managers);
  rename_overlong(s, p + "overlong_buffer.");
  add_fsdp(s, p + "model.fsdp_config.");
  add_megatron(s, p + "megatron.");
  add_profiler(s, p + "profiler.");

  add_manager(s, "reward_manager.");
  rename_overlong(s, "custom_reward_function.overlong_buffer.");

  s.renamed(p + "num_workers", "reward.num_workers");
  s.refused("reward.reward_model.enable", {false}, "reward models are not there yet");
  s.accepted("reward.reward_model.*", ValueKind::any, "there is no reward model");
  add_manager(s, "reward.reward_manager.");
  for (const char* key : {"path", "name"}) {
    s.renamed(std::string("reward.custom_reward_function.") + key, std::string("custom_reward_function.") + key);
  }
  s.refused("reward.custom_reward_function.reward_kwargs.*", {}, "custom_reward_function.reward_kwargs is the key");
  add_sandbox(s, "reward.sandbox_fusion.");
  s.refused("reward.reward_kwargs.*", {}, managers);
  rename_overlong(s, "reward.reward_kwargs.overlong_buffer_cfg.");
  s.renamed("reward.reward_kwargs.max_resp_len", "reward_model.reward_kwargs.max_resp_len");
}

void add_algorithm(Schema& s) {
  const std::string p = "algorithm.";
  s.refused(p + "use_pf_ppo", {false}, kNotYet);
  accept(s, p, kOff, {{"pf_ppo.reweight_method", "pow"}, {"pf_ppo.weight_pow", 2.0}});
  const std::string c = p + "rollout_correction.";
  accept(s, c, kOldCorrection,
         {{"rollout_is_level", ValueKind::text},
          {"rollout_is_mode", ValueKind::text},
          {"rollout_is_threshold_lower", ValueKind::number},
          {"rollout_is_veto_threshold", ValueKind::number},
          {"rollout_rs_threshold_lower", ValueKind::any},
          {"rollout_token_veto_threshold", ValueKind::number},
          {"bypass_old_logprob_for_rollout", false}});
  s.refused(c + "use_policy_gradient", {false}, "bypass_mode with loss_type=reinforce is the key");
  s.refused(c + "use_pure_rollout_correction", {false}, "bypass_mode with loss_type=reinforce is the key");
  accept(s, p, kOldCorrection,
         {{"rollout_is", ValueKind::any},
          {"rollout_is_threshold", ValueKind::number},
          {"rollout_is_threshold_lower", ValueKind::number},
          {"rollout_is_level", ValueKind::text},
          {"rollout_is_mode", ValueKind::text},
          {"rollout_is_veto_threshold", ValueKind::number}});
}

void add_trainer(Schema& s) {
  const std::string p = "trainer.";
  accept(s, p, kDevices, {{"nnodes", 1}, {"n_gpus_per_node", 8}, {"balance_batch", true}, {"device", "cuda"}});
  s.accepted(p + "max_critic_ckpt_to_keep", ValueKind::integer, "the critic is part of the run's checkpoints");
  s.accepted(p + "use_legacy_worker_impl", "auto", "there is one implementation");
  s.accepted(p + "esi_redundant_time", 0, "no platform ends the run");
  s.accepted(p + "ray_wait_register_center_timeout", 300, kNoRay);
  accept(s, p, kProfiler,
         {{"profile_steps", ValueKind::list},
          {"controller_nsight_options.*", ValueKind::any},
          {"worker_nsight_options.*", ValueKind::any},
          {"npu_profile.*", ValueKind::any}});
  s.refused(p + "default_hdfs_dir", ValueKind::text, "checkpoints are written to local folders");
  s.refused(p + "del_local_ckpt_after_load", {false}, "a checkpoint is never deleted because it was read");
  s.refused(p + "remove_previous_ckpt_in_save", {false}, "trainer.max_actor_ckpt_to_keep is the key");
}

void add_run(Schema& s) {
  accept(s, "global_profiler.", kProfiler,
         {{"tool", ValueKind::text},
          {"steps", ValueKind::list},
          {"profile_continuous_steps", false},
          {"save_path", "outputs/profile"},
          {"global_tool_config.nsys.discrete", false},
          {"global_tool_config.nsys.controller_nsight_options.*", ValueKind::any},
          {"global_tool_config.nsys.worker_nsight_options.*", ValueKind::any},
          {"global_tool_config.torch_memory.trace_alloc_max_entries", 100000},
          {"global_tool_config.torch_memory.stack_depth", 32},
          {"global_tool_config.torch_memory.context", "all"},
          {"global_tool_config.torch_memory.stacks", "all"},
          {"global_tool_config.torch_memory.kw_args.*", ValueKind::any}});
  s.accepted("profile.*", ValueKind::any, kProfiler);  // of older scripts
  accept(s, "", kNoRay,
         {{"ray_kwargs.ray_init.num_cpus", ValueKind::integer},
          {"ray_kwargs.timeline_json_file", ValueKind::text},
          {"ray_kwargs.*", ValueKind::any},
          {"ray_init.*", ValueKind::any}});
  accept(s, "", "there is no Hydra: a recipe is one file", {{"hydra.*", ValueKind::any}, {"defaults", ValueKind::any}});
  accept(s, "", "samples stay in one process",
         {{"transfer_queue.enable", false}, {"transfer_queue.*", ValueKind::any}});

  const char* async = "asynchronous runs are not there yet";
  for (const char* key :
       {"staleness_threshold", "trigger_parameter_sync_step", "require_batches", "partial_rollout",
        "use_rollout_log_probs", "compute_prox_log_prob", "use_trainer_do_validate", "checkpoint_engine.enable",
        "checkpoint_engine.device_buffer_size_M", "checkpoint_engine.overlap_broadcast_and_consume"}) {
    s.refused(std::string("async_training.") + key, {}, async);
  }
  accept(s, "rollout.", kDevices, {{"nnodes", 1}, {"n_gpus_per_node", 8}});
  for (const char* key : {"n", "total_rollout_steps", "total_epochs", "test_freq"}) {
    s.refused(std::string("rollout.") + key, {},
              "the group rollout is that of asynchronous runs, which are not there yet; options of sampling begin with "
              "actor_rollout_ref.rollout");
  }
}

}  // namespace
}  // namespace verl

void add_verl_rules(config::Schema& schema) {
  verl::add_data(schema);
  verl::add_roles(schema);
  verl::add_algorithm(schema);
  verl::add_rewards(schema);
  verl::add_trainer(schema);
  verl::add_run(schema);
  schema.renamed("actor_rollout_ref.actor.optim.warmup_style", "actor_rollout_ref.actor.optim.lr_scheduler_type");
  schema.renamed("trainer.val_generations_to_log_to_wandb", "trainer.log_val_generations");
}

}  // namespace hone
