// verl's keys of RL beyond the honoured ones: accepted without a meaning, refused unless neutral, renamed.
#include "loop/recipe.h"

namespace hone {
namespace {

using config::Schema;
using io::Json;

struct Ignored {
  const char* pattern;
  const char* reason;
};

constexpr const char* kDevices = "one process uses every core; there are no devices to divide";
constexpr const char* kSharded = "weights are not sharded or offloaded";
constexpr const char* kOnePolicy =
    "sampling and training share weights and kernels: no second pass, nothing to correct";
constexpr const char* kOff = "the part it belongs to is off";
constexpr const char* kMicro = "micro-batches are cut by ppo_max_token_len_per_gpu";
constexpr const char* kText = "prompts are text";

constexpr const char* kProfiler = "there is no profiler yet; timing_s/* in metrics.jsonl tells of phases";
constexpr Ignored kIgnored[] = {
    {"actor_rollout_ref.actor.calculate_entropy", "actor/entropy is always reported"},
    {"trainer.nnodes", kDevices},
    {"trainer.n_gpus_per_node", kDevices},
    {"trainer.balance_batch", kDevices},
    {"trainer.device", kDevices},
    {"trainer.critic_warmup", "GRPO has no critic"},
    {"trainer.max_critic_ckpt_to_keep", "GRPO has no critic"},
    {"trainer.use_legacy_worker_impl", "there is one implementation"},
    {"trainer.log_val_generations", "every validation sample is in the run folder"},
    {"trainer.esi_redundant_time", "no platform ends the run"},
    {"trainer.ray_wait_register_center_timeout", "there is no Ray"},
    {"trainer.profile_steps", kProfiler},
    {"ray_kwargs.*", "there is no Ray"},
    {"ray_init.*", "there is no Ray"},
    {"hydra.*", "there is no Hydra"},
    {"transfer_queue.*", "samples stay in one process"},
    {"global_profiler.*", kProfiler},
    {"critic.*", "GRPO has no critic"},
    {"data.val_batch_size", "validation answers share the engine with no regard to batches"},
    {"data.dataloader_num_workers", "rows are read before the run"},
    {"data.filter_overlong_prompts_workers", "rows are read before the run"},
    {"data.return_raw_chat", "rows carry all of it"},
    {"data.return_raw_input_ids", "rows carry all of it"},
    {"data.return_full_prompt", "rows carry all of it"},
    {"data.return_multi_modal_inputs", kText},
    {"data.image_key", kText},
    {"data.video_key", kText},
    {"data.image_patch_size", kText},
    {"data.validation_shuffle", "the order of validation changes no answer"},
    {"data.trust_remote_code", "no code comes with a model"},
    {"data.use_shm", "files are mapped"},
    {"data.custom_cls.name", kOff},
    {"data.sampler.class_name", kOff},
    {"data.datagen.name", kOff},
    {"actor_rollout_ref.nccl_timeout", kDevices},
    {"actor_rollout_ref.ref.*", "without KL there is no reference model"},
    {"actor_rollout_ref.model.trust_remote_code", "no code comes with a model"},
    {"actor_rollout_ref.model.use_shm", "files are mapped"},
    {"actor_rollout_ref.model.enable_gradient_checkpointing", "what is kept and what is recomputed has the same bits"},
    {"actor_rollout_ref.model.enable_activation_offload", kSharded},
    {"actor_rollout_ref.model.use_remove_padding", "nothing is padded"},
    {"actor_rollout_ref.model.use_fused_kernels", "logits are never whole"},
    {"actor_rollout_ref.model.fused_kernel_options.*", "logits are never whole"},
    {"actor_rollout_ref.model.use_liger", "there is one implementation"},
    {"actor_rollout_ref.model.tiled_mlp.*", kSharded},
    {"actor_rollout_ref.model.lora_alpha", kOff},
    {"actor_rollout_ref.model.target_modules", kOff},
    {"actor_rollout_ref.model.exclude_modules", kOff},
    {"actor_rollout_ref.model.mtp.*", kOff},
    {"actor_rollout_ref.actor.strategy", kSharded},
    {"actor_rollout_ref.actor.fsdp_config.*", kSharded},
    {"actor_rollout_ref.actor.megatron.*", kSharded},
    {"actor_rollout_ref.actor.ulysses_sequence_parallel_size", kSharded},
    {"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", kMicro},
    {"actor_rollout_ref.actor.ppo_micro_batch_size", kMicro},
    {"actor_rollout_ref.actor.use_dynamic_bsz", kMicro},
    {"actor_rollout_ref.actor.tau_pos", kOff},
    {"actor_rollout_ref.actor.tau_neg", kOff},
    {"actor_rollout_ref.actor.policy_loss.*", kOff},
    {"actor_rollout_ref.actor.kl_loss_type", "the KL loss is off"},
    {"actor_rollout_ref.actor.data_loader_seed", "trainer.seed is the seed"},
    {"actor_rollout_ref.actor.optim.optimizer_impl", "there is one AdamW"},
    {"actor_rollout_ref.actor.entropy_from_logits_with_chunking", "logits are never whole"},
    {"actor_rollout_ref.actor.entropy_checkpointing", "logits are never whole"},
    {"actor_rollout_ref.actor.use_torch_compile", "there is no torch"},
    {"actor_rollout_ref.actor.use_prefix_grouper", "it changes speed only"},
    {"actor_rollout_ref.actor.freeze_vision_tower", kText},
    {"actor_rollout_ref.actor.calculate_sum_pi_squared", kOff},
    {"actor_rollout_ref.actor.sum_pi_squared_checkpointing", kOff},
    {"actor_rollout_ref.actor.use_rollout_log_probs", kOnePolicy},
    {"actor_rollout_ref.actor.recompute_old_log_prob", kOnePolicy},
    {"actor_rollout_ref.actor.router_replay.*", kOnePolicy},
    {"actor_rollout_ref.actor.checkpoint.*", "a checkpoint holds everything"},
    {"actor_rollout_ref.actor.profiler.*", kProfiler},
    {"actor_rollout_ref.rollout.name", "there is one engine"},
    {"actor_rollout_ref.rollout.mode", "there is one engine"},
    {"actor_rollout_ref.rollout.load_format", "the engine reads the trainer's weights"},
    {"actor_rollout_ref.rollout.layered_summon", "the engine reads the trainer's weights"},
    {"actor_rollout_ref.rollout.checkpoint_engine.*", "the engine reads the trainer's weights"},
    {"actor_rollout_ref.rollout.multi_stage_wake_up", "the engine reads the trainer's weights"},
    {"actor_rollout_ref.rollout.free_cache_engine", "the engine reads the trainer's weights"},
    {"actor_rollout_ref.rollout.gpu_memory_utilization", kDevices},
    {"actor_rollout_ref.rollout.tensor_model_parallel_size", kDevices},
    {"actor_rollout_ref.rollout.data_parallel_size", kDevices},
    {"actor_rollout_ref.rollout.expert_parallel_size", kDevices},
    {"actor_rollout_ref.rollout.pipeline_model_parallel_size", kDevices},
    {"actor_rollout_ref.rollout.enforce_eager", "there are no device graphs"},
    {"actor_rollout_ref.rollout.cudagraph_capture_sizes", "there are no device graphs"},
    {"actor_rollout_ref.rollout.disable_log_stats", "the engine's numbers are in the metrics"},
    {"actor_rollout_ref.rollout.scheduling_policy", "the order of work changes no answer"},
    {"actor_rollout_ref.rollout.calculate_log_probs", "every sampled token has its log-prob"},
    {"actor_rollout_ref.rollout.log_prob_micro_batch_size", kOnePolicy},
    {"actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu", kOnePolicy},
    {"actor_rollout_ref.rollout.log_prob_use_dynamic_bsz", kOnePolicy},
    {"actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu", kOnePolicy},
    {"actor_rollout_ref.rollout.multi_turn.*", kOff},
    {"actor_rollout_ref.rollout.agent.*", "one answer, one turn"},
    {"actor_rollout_ref.rollout.engine_kwargs.*", "there is one engine"},
    {"actor_rollout_ref.rollout.skip_dump_dir", kOff},
    {"actor_rollout_ref.rollout.trace.*", kProfiler},
    {"actor_rollout_ref.rollout.prometheus.*", "the engine's numbers are in the metrics"},
    {"actor_rollout_ref.rollout.profiler.*", kProfiler},
    {"actor_rollout_ref.rollout.enable_rollout_routing_replay", kOnePolicy},
    {"actor_rollout_ref.rollout.data_rebalance", kDevices},
    {"algorithm.gamma", "GRPO gives one advantage to a whole answer"},
    {"algorithm.lam", "GRPO gives one advantage to a whole answer"},
    {"algorithm.kl_penalty", "KL in the reward is off"},
    {"algorithm.kl_ctrl.*", "KL in the reward is off"},
    {"algorithm.pf_ppo.*", kOff},
    {"algorithm.filter_groups.*", kOff},
    {"algorithm.rollout_correction.*", kOnePolicy},
    {"reward_model.*", "there is no reward model"},
    {"reward_manager.*", "rewards come from the scorer of a row"},
    {"custom_reward_function.*", kOff},
};

constexpr const char* kNotYet = "not there yet";
constexpr const char* kOtherDistribution =
    "training samples come from the whole distribution, whose log-probs the loss takes";

struct Refused {
  const char* pattern;
  std::vector<Json> neutral;
  const char* reason;
};

std::vector<Refused> refused() {
  const char* kl = "the KL it weighs is off; neutral values are 0 and verl's default";
  return {
      {"data.gen_batch_size", {}, "dynamic sampling is not there yet"},
      {"data.custom_cls.path", {}, kNotYet},
      {"data.sampler.class_path", {}, kNotYet},
      {"data.datagen.path", {}, kNotYet},
      {"data.tokenizer", {}, "the tokenizer is that of the model"},
      {"data.tool_config_path", {}, kNotYet},
      {"data.apply_chat_template_kwargs.*", {}, kNotYet},
      {"actor_rollout_ref.hybrid_engine", {true}, "sampling and training apart are not there yet"},
      {"actor_rollout_ref.model.hf_config_path", {}, kNotYet},
      {"actor_rollout_ref.model.tokenizer_path", {}, kNotYet},
      {"actor_rollout_ref.model.custom_chat_template", {}, kNotYet},
      {"actor_rollout_ref.model.external_lib", {}, "no Python runs in the process"},
      {"actor_rollout_ref.model.override_config.*", {}, kNotYet},
      {"actor_rollout_ref.model.lora_rank", {0}, "LoRA is not there yet"},
      {"actor_rollout_ref.model.lora_adapter_path", {}, "LoRA is not there yet"},
      {"actor_rollout_ref.model.mtp.enable", {false}, kNotYet},
      {"actor_rollout_ref.actor.use_kl_loss", {false}, "the KL loss is not there yet"},
      {"actor_rollout_ref.actor.kl_loss_coef", {0, 0.001}, kl},
      {"actor_rollout_ref.actor.optim.clip_grad", {1}, "actor_rollout_ref.actor.grad_clip is the key"},
      {"actor_rollout_ref.actor.optim.optimizer", {"AdamW", "adamw"}, kNotYet},
      {"actor_rollout_ref.actor.optim.override_optimizer_config.*", {}, kNotYet},
      {"actor_rollout_ref.rollout.do_sample", {true}, "greedy answers of a group are all the same"},
      {"actor_rollout_ref.rollout.top_k", {-1, 0}, kOtherDistribution},
      {"actor_rollout_ref.rollout.top_p", {1}, kOtherDistribution},
      {"actor_rollout_ref.rollout.min_p", {0}, kOtherDistribution},
      {"actor_rollout_ref.rollout.repetition_penalty", {1}, kOtherDistribution},
      {"actor_rollout_ref.rollout.logprobs_mode", {"processed_logprobs"}, kOtherDistribution},
      {"actor_rollout_ref.rollout.over_sample_rate", {0}, kNotYet},
      {"actor_rollout_ref.rollout.skip_rollout", {false}, kNotYet},
      {"actor_rollout_ref.rollout.quantization", {}, kNotYet},
      {"actor_rollout_ref.rollout.multi_turn.enable", {false}, kNotYet},
      {"actor_rollout_ref.rollout.agent.default_agent_loop", {"single_turn_agent"}, kNotYet},
      {"actor_rollout_ref.rollout.agent.agent_loop_config_path", {}, kNotYet},
      {"algorithm.use_kl_in_reward", {false}, "KL in the reward is not there yet"},
      {"algorithm.kl_ctrl.kl_coef", {0, 0.001}, kl},
      {"algorithm.use_pf_ppo", {false}, kNotYet},
      {"algorithm.filter_groups.enable", {false}, "dynamic sampling is not there yet"},
      {"reward_model.enable", {false}, "reward models are not there yet"},
      {"reward_model.reward_manager", {"naive", "dapo"}, kNotYet},
      {"reward_model.reward_kwargs.*", {}, "overlong shaping is not there yet"},
      {"reward_model.reward_kwargs.overlong_buffer_cfg.enable", {false}, "overlong shaping is not there yet"},
      {"reward_model.overlong_buffer.enable", {false}, "overlong shaping is not there yet"},
      {"reward_model.sandbox_fusion.url", {}, kNotYet},
      {"reward_manager.name", {"naive", "dapo"}, kNotYet},
      {"reward_manager.module.path", {}, kNotYet},
      {"custom_reward_function.path", {}, "scorers of your own are not there yet"},
      {"trainer.default_hdfs_dir", {}, "checkpoints are written to local folders"},
      {"trainer.del_local_ckpt_after_load", {false}, "a checkpoint is never deleted because it was read"},
      {"async_training.*", {}, "asynchronous runs are not there yet"},
  };
}

}  // namespace

void add_verl_rules(Schema& schema) {
  for (const Ignored& rule : kIgnored) schema.ignored(rule.pattern, rule.reason);
  for (Refused& rule : refused()) schema.refused(rule.pattern, std::move(rule.neutral), rule.reason);
  schema.renamed("actor_rollout_ref.actor.optim.warmup_style", "actor_rollout_ref.actor.optim.lr_scheduler_type");
}

}  // namespace hone
