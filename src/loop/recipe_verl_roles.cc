// verl's keys of models: what an actor, a reference, a rollout and a critic may be told.
#include "loop/recipe_verl.h"

namespace hone::verl {

using config::Schema;
using io::Json;

void accept(Schema& s, const std::string& prefix, const char* reason, std::initializer_list<Key> keys) {
  for (const Key& key : keys) {
    if (key.has_default) {
      s.accepted(prefix + key.name, key.default_value, reason);
    } else {
      s.accepted(prefix + key.name, key.kind, reason);
    }
  }
}

void add_fsdp(Schema& s, const std::string& p) {
  accept(s, p, kSharded,
         {{"strategy", "fsdp"},
          {"param_offload", false},
          {"optimizer_offload", false},
          {"grad_offload", false},
          {"offload_policy", false},
          {"cpu_offload", false},
          {"offload_params", false},
          {"reshard_after_forward", true},
          {"fsdp_size", -1},
          {"forward_prefetch", false},
          {"use_orig_params", false},
          {"forward_only", false},
          {"ulysses_sequence_parallel_size", 1},
          {"wrap_policy.min_num_params", 0},
          {"wrap_policy.transformer_layer_cls_to_wrap", ValueKind::any}});
  accept(s, p, kMasters, {{"model_dtype", "fp32"}, {"dtype", "bfloat16"}, {"mixed_precision.*", ValueKind::any}});
  accept(s, p, "trainer.seed is the seed, and every run repeats to the bit",
         {{"seed", 42}, {"full_determinism", false}});
  accept(s, p, "logits are never whole",
         {{"entropy_from_logits_with_chunking", false}, {"entropy_checkpointing", false}});
  accept(s, p, "there is no torch", {{"use_torch_compile", true}});
}

void add_megatron(Schema& s, const std::string& p) {
  accept(s, p, kSharded,
         {{"param_offload", false},
          {"grad_offload", false},
          {"optimizer_offload", false},
          {"tensor_model_parallel_size", 1},
          {"pipeline_model_parallel_size", 1},
          {"virtual_pipeline_model_parallel_size", ValueKind::integer},
          {"context_parallel_size", 1},
          {"expert_model_parallel_size", 1},
          {"expert_tensor_parallel_size", ValueKind::integer},
          {"sequence_parallel", true},
          {"use_distributed_optimizer", true},
          {"use_dist_checkpointing", false},
          {"dist_checkpointing_path", ValueKind::text},
          {"dist_checkpointing_prefix", ValueKind::text},
          {"use_mbridge", true},
          {"vanilla_mbridge", true},
          {"use_remove_padding", true},
          {"forward_only", false},
          {"seed", 42},
          {"override_ddp_config.*", ValueKind::any},
          {"override_mcore_model_config.*", ValueKind::any},
          {"override_transformer_config.*", ValueKind::any}});
  accept(s, p, kMasters, {{"dtype", "bfloat16"}});
}

void add_profiler(Schema& s, const std::string& p) {
  accept(s, p, kProfiler,
         {{"tool", ValueKind::text},
          {"enable", false},
          {"all_ranks", false},
          {"ranks", Json::array()},
          {"discrete", false},
          {"save_path", ValueKind::text},
          {"tool_config.nsys.discrete", false},
          {"tool_config.npu.contents", Json::array()},
          {"tool_config.npu.level", "level0"},
          {"tool_config.npu.analysis", true},
          {"tool_config.npu.discrete", false},
          {"tool_config.torch.contents", Json::array()},
          {"tool_config.torch.discrete", false},
          {"tool_config.torch.step_start", 0},
          {"tool_config.torch.step_end", ValueKind::integer},
          {"tool_config.torch_memory.trace_alloc_max_entries", 100000},
          {"tool_config.torch_memory.stack_depth", 32}});
}

void add_checkpoint(Schema& s, const std::string& p) {
  const Json whole = Json::array({"model", "optimizer", "extra"});
  accept(s, p, "a checkpoint holds everything, as a Hugging Face folder",
         {{"save_contents", whole}, {"contents", whole}, {"async_save", false}, {"mbridge_config.*", ValueKind::any}});
  s.refused(p + "load_contents",
            {whole, Json::array({"model", "hf_model", "optimizer", "extra"}),
             Json::array({"model", "optimizer", "extra", "hf_model"})},
            "a checkpoint is loaded whole; to start from its weights alone, name it as the model");
}

void add_optimizer(Schema& s, const std::string& p) {
  accept(s, p, "there is one AdamW",
         {{"optimizer_impl", "torch.optim"}, {"use_checkpoint_opt_param_scheduler", false}});
  accept(s, p, "the schedule it belongs to is not there",
         {{"lr_decay_steps", ValueKind::integer},
          {"lr_wsd_decay_style", "exponential"},
          {"lr_wsd_decay_steps", ValueKind::integer}});
  s.refused(p + "optimizer", {"AdamW", "adamw", "adam"},
            "AdamW is what there is; for AdamW8bit set moments=8bit beside it");
  accept(s, p + "override_optimizer_config.", kSharded,
         {{"optimizer_offload_fraction", 0.0},
          {"optimizer_cpu_offload", false},
          {"overlap_cpu_optimizer_d2h_h2d", false},
          {"use_precision_aware_optimizer", false}});
  s.refused(p + "override_optimizer_config.*", {}, "AdamW is what there is");
  s.refused(p + "lr_decay_style", {"constant"}, "lr_scheduler_type is the key");
  s.refused(p + "lr_warmup_init", {0.0}, "step k of the warm-up takes k / lr_warmup_steps of lr");
  s.refused(p + "min_lr", {0.0}, "min_lr_ratio is the key");
  s.refused(p + "weight_decay_incr_style", {"constant"}, kNotYet);
}

void add_model(Schema& s, const std::string& p) {
  s.accepted(p + "trust_remote_code", false, "no code comes with a model");
  s.accepted(p + "use_shm", false, "files are mapped");
  s.accepted(p + "enable_activation_offload", false, kSharded);
  s.accepted(p + "use_remove_padding", true, "nothing is padded");
  s.accepted(p + "use_fused_kernels", false, "logits are never whole");
  s.accepted(p + "fused_kernel_options.impl_backend", "torch", "logits are never whole");
  s.accepted(p + "use_liger", false, "there is one implementation");
  accept(s, p, "it changes memory only", {{"tiled_mlp.enabled", false}, {"tiled_mlp.num_shards", 4}});
  s.refused(p + "hf_config_path", ValueKind::text, "config.json is that of the model's folder");
  s.refused(p + "external_lib", ValueKind::text, "no Python runs in the process");
  for (const char* dropout : {"attention_dropout", "embd_pdrop", "resid_pdrop", "hidden_dropout"}) {
    s.refused(p + "override_config." + dropout, {0.0}, "there is no dropout");
  }
  s.refused(p + "override_config.*", {}, "the model is what its config.json says: change it there");
  s.refused(p + "mtp.enable", {false}, "multi-token prediction is not there yet");
  accept(s, p, kOff,
         {{"mtp.enable_train", false},
          {"mtp.enable_rollout", false},
          {"mtp.detach_encoder", false},
          {"mtp.mtp_loss_scaling_factor", 0.1},
          {"mtp.method", "mtp"},
          {"mtp.num_speculative_tokens", 1}});
}

namespace {

void add_actor(Schema& s) {
  const std::string p = "actor_rollout_ref.actor.";
  const char* micro = "micro-batches are cut by ppo_max_token_len_per_gpu";
  accept(s, p, micro,
         {{"ppo_infer_micro_batch_size_per_gpu", ValueKind::integer},
          {"ppo_infer_max_token_len_per_gpu", ValueKind::integer}});
  accept(
      s, p, kOff,
      {{"calculate_sum_pi_squared", false}, {"sum_pi_squared_checkpointing", false}, {"freeze_vision_tower", false}});
  s.refused(p + "use_token_level_loss", {true}, "loss_agg_mode is the key");
  s.accepted(p + "calculate_entropy", false, "actor/entropy is always reported");
  s.accepted(p + "data_loader_seed", 42, "trainer.seed is the seed");
  s.accepted(p + "rollout_n", ValueKind::integer, "actor_rollout_ref.rollout.n is the key");
  accept(s, p, kSharded, {{"strategy", "fsdp"}, {"ulysses_sequence_parallel_size", 1}, {"load_weight", true}});
  accept(s, p, kDevices, {{"nccl_timeout", 600}});
  accept(
      s, p, "logits are never whole",
      {{"entropy_from_logits_with_chunking", false}, {"entropy_checkpointing", false}, {"use_fused_kernels", false}});
  s.accepted(p + "use_remove_padding", true, "nothing is padded");
  s.accepted(p + "use_torch_compile", true, "there is no torch");
  accept(s, p, kOnePolicy,
         {{"use_rollout_log_probs", false},
          {"tis_imp_ratio_cap", ValueKind::number},
          {"router_replay.mode", "disabled"},
          {"router_replay.record_file", ValueKind::text},
          {"router_replay.replay_file", ValueKind::text}});
  s.refused(p + "optim.clip_grad", {1.0}, "actor_rollout_ref.actor.grad_clip is the key");
  add_optimizer(s, p + "optim.");
  add_fsdp(s, p + "fsdp_config.");
  add_megatron(s, p + "megatron.");
  add_checkpoint(s, p + "checkpoint.");
  add_profiler(s, p + "profiler.");
}

void add_ref(Schema& s) {
  const std::string p = "actor_rollout_ref.ref.";
  s.refused(p + "model.path", ValueKind::text, "the reference is the starting weights");
  accept(s, p, "the reference is the starting weights, scored as the policy is",
         {{"strategy", "fsdp"},
          {"use_torch_compile", true},
          {"use_remove_padding", true},
          {"use_fused_kernels", false},
          {"rollout_n", ValueKind::integer},
          {"load_weight", true},
          {"log_prob_micro_batch_size", ValueKind::integer},
          {"log_prob_micro_batch_size_per_gpu", ValueKind::integer},
          {"log_prob_use_dynamic_bsz", false},
          {"log_prob_max_token_len_per_gpu", 16384},
          {"ulysses_sequence_parallel_size", 1},
          {"entropy_from_logits_with_chunking", false},
          {"entropy_checkpointing", false},
          {"router_replay.mode", "disabled"},
          {"router_replay.record_file", ValueKind::text},
          {"router_replay.replay_file", ValueKind::text}});
  s.alternatives(p + "log_prob_micro_batch_size", p + "log_prob_micro_batch_size_per_gpu");
  add_fsdp(s, p + "fsdp_config.");
  add_megatron(s, p + "megatron.");
  add_profiler(s, p + "profiler.");
}

void add_rollout_engine(Schema& s, const std::string& p) {
  accept(s, p, kOneEngine,
         {{"name", ValueKind::text},
          {"mode", "async"},
          {"engine_kwargs.*", ValueKind::any},
          {"skip_tokenizer_init", true}});
  accept(s, p, kSameWeights,
         {{"load_format", "dummy"},
          {"layered_summon", false},
          {"enable_sleep_mode", true},
          {"multi_stage_wake_up", false},
          {"update_weights_bucket_megabytes", 512},
          {"checkpoint_engine.backend", "naive"},
          {"checkpoint_engine.update_weights_bucket_megabytes", 2048},
          {"checkpoint_engine.engine_kwargs.*", ValueKind::any}});
  accept(s, p, kDevices,
         {{"tensor_model_parallel_size", 2},
          {"data_parallel_size", 1},
          {"expert_parallel_size", 1},
          {"pipeline_model_parallel_size", 1},
          {"nnodes", 0},
          {"n_gpus_per_node", 8},
          {"data_rebalance", true}});
  accept(s, p, "there are no device graphs", {{"enforce_eager", false}, {"cudagraph_capture_sizes", ValueKind::list}});
  accept(s, p, "the engine's numbers are in the metrics",
         {{"disable_log_stats", true},
          {"prometheus.enable", false},
          {"prometheus.port", 9090},
          {"prometheus.file", ValueKind::text},
          {"prometheus.served_model_name", ValueKind::text}});
  s.accepted(p + "scheduling_policy", "fcfs", "the order of work changes no answer");
  s.accepted(p + "limit_images", ValueKind::integer, kPrompts);
  s.refused(p + "quantization", ValueKind::text, kNotYet);
  s.accepted(p + "quantization_config_file", ValueKind::text, kOff);
}

void add_rollout(Schema& s) {
  const std::string p = "actor_rollout_ref.rollout.";
  const char* distribution = "training samples come from the whole distribution, whose log-probs the loss takes";
  add_rollout_engine(s, p);
  s.refused(p + "do_sample", {true}, "greedy answers of a group are all the same");
  s.refused(p + "top_k", {-1, 0}, distribution);
  s.refused(p + "top_p", {1.0}, distribution);
  s.refused(p + "min_p", {0.0}, distribution);
  s.refused(p + "repetition_penalty", {1.0}, distribution);
  s.refused(p + "logprobs_mode", {"processed_logprobs"}, distribution);
  s.accepted(p + "calculate_log_probs", false, "every sampled token has its log-prob");
  accept(s, p, kOnePolicy,
         {{"log_prob_micro_batch_size", ValueKind::integer},
          {"log_prob_micro_batch_size_per_gpu", ValueKind::integer},
          {"log_prob_use_dynamic_bsz", false},
          {"log_prob_max_token_len_per_gpu", 16384},
          {"enable_rollout_routing_replay", false}});
  s.alternatives(p + "log_prob_micro_batch_size", p + "log_prob_micro_batch_size_per_gpu");
  s.refused(p + "skip_rollout", {false}, kNotYet);
  s.accepted(p + "skip_dump_dir", "/tmp/rollout_dump", kOff);
  s.refused(p + "multi_turn.enable", {false}, "answers of several turns are not there yet");
  accept(s, p, kOff,
         {{"multi_turn.max_assistant_turns", ValueKind::integer},
          {"multi_turn.max_user_turns", ValueKind::integer},
          {"multi_turn.max_parallel_calls", 1},
          {"multi_turn.max_tool_response_length", 256},
          {"multi_turn.tool_response_truncate_side", "middle"},
          {"multi_turn.tool_config_path", ValueKind::text},
          {"multi_turn.interaction_config_path", ValueKind::text},
          {"multi_turn.use_inference_chat_template", false},
          {"multi_turn.tokenization_sanity_check_mode", "strict"},
          {"multi_turn.num_repeat_rollouts", ValueKind::integer},
          {"multi_turn.format", "hermes"}});
  s.accepted(p + "agent.num_workers", 8, "one engine answers all prompts");
  s.refused(p + "agent.default_agent_loop", {"single_turn_agent"}, kNotYet);
  s.refused(p + "agent.agent_loop_config_path", ValueKind::text, kNotYet);
  s.accepted(p + "agent.agent_loop_manager_class", ValueKind::text, kOneEngine);
  accept(s, p, kOneEngine,
         {{"agent.custom_async_server.path", ValueKind::text}, {"agent.custom_async_server.name", ValueKind::text}});
  accept(s, p, "every sample is in the run folder",
         {{"trace.backend", ValueKind::text},
          {"trace.token2text", false},
          {"trace.project_name", ValueKind::text},
          {"trace.experiment_name", ValueKind::text},
          {"trace.max_samples_per_step_per_worker", ValueKind::integer}});
  add_profiler(s, p + "profiler.");
}

void add_critic(Schema& s) {
  const std::string p = "critic.";
  s.accepted(p + "enable", true, "algorithm.adv_estimator says whether there is a critic");
  accept(s, p, "micro-batches are cut by actor_rollout_ref.actor.ppo_max_token_len_per_gpu",
         {{"ppo_micro_batch_size", ValueKind::integer},
          {"ppo_micro_batch_size_per_gpu", ValueKind::integer},
          {"forward_micro_batch_size", ValueKind::integer},
          {"forward_micro_batch_size_per_gpu", ValueKind::integer},
          {"use_dynamic_bsz", false},
          {"ppo_max_token_len_per_gpu", 32768},
          {"forward_max_token_len_per_gpu", 32768},
          {"ppo_infer_micro_batch_size_per_gpu", ValueKind::integer},
          {"ppo_infer_max_token_len_per_gpu", ValueKind::integer}});
  s.accepted(p + "rollout_n", ValueKind::integer, "actor_rollout_ref.rollout.n is the key");
  s.accepted(p + "data_loader_seed", 42, "trainer.seed is the seed");
  accept(s, p, kSharded, {{"strategy", "fsdp"}, {"ulysses_sequence_parallel_size", 1}, {"load_weight", true}});
  accept(s, p, kDevices, {{"nccl_timeout", 600}});
  s.refused(p + "optim.clip_grad", {1.0}, "critic.grad_clip is the key");
  add_optimizer(s, p + "optim.");
  s.renamed(p + "optim.warmup_style", p + "optim.lr_scheduler_type");
  const std::string m = p + "model.";
  add_model(s, m);
  s.accepted(m + "tokenizer_path", ValueKind::text, "a critic reads the ids that the policy wrote");
  s.accepted(m + "enable_gradient_checkpointing", true, "a critic recomputes what the actor does");
  s.refused(m + "lora_rank", {0}, "a critic trains all of its weights");
  accept(s, m, kOff,
         {{"lora_alpha", 16},
          {"target_modules", ValueKind::any},
          {"exclude_modules", ValueKind::any},
          {"lora_adapter_path", ValueKind::text}});
  accept(s, p + "checkpoint.", "it is part of the run's checkpoint",
         {{"save_contents", ValueKind::list},
          {"load_contents", ValueKind::list},
          {"contents", ValueKind::list},
          {"async_save", false}});
  s.alternatives(p + "ppo_micro_batch_size", p + "ppo_micro_batch_size_per_gpu");
  add_fsdp(s, p + "model.fsdp_config.");
  add_megatron(s, p + "megatron.");
  add_profiler(s, p + "profiler.");
}

}  // namespace

void add_roles(Schema& s) {
  s.refused("actor_rollout_ref.hybrid_engine", {true}, "sampling and training apart are not there yet");
  s.accepted("actor_rollout_ref.nccl_timeout", 600, kDevices);
  add_model(s, "actor_rollout_ref.model.");
  s.refused("actor_rollout_ref.model.tokenizer_path", ValueKind::text, "the tokenizer is that of the model's folder");
  add_actor(s);
  add_ref(s);
  add_rollout(s);
  add_critic(s);
}

}  // namespace hone::verl
