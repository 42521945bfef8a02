#include "loop/recipe_rollout.h"

namespace hone {

using config::Effect;
using config::Schema;

void add_rollout_fields(Schema& s, RolloutRecipe& r) {
  const std::string p = "actor_rollout_ref.rollout.";
  s.field(p + "n", &r.n, "Answers to each prompt of a step: a group.")
      .at_least(1)
      .at_most(1000000)
      .also_called({"num_generations", "group_size"});
  s.field(p + "temperature", &r.temperature, "Temperature of sampling and of every log-prob in training.")
      .at_least(1e-4)
      .at_most(1e4);
  s.field(
       p + "dtype", &r.dtype,
       "Inputs of products and the KV cache, in sampling and training alike; auto = bfloat16 on processors with BF16 "
       "dot products, else float32 (verl: bfloat16).")
      .one_of({"auto", "bfloat16", "float32"});
  // Which groups of those in flight are complete first is a question of how the engine's steps are filled.
  const char* over = "over_sample_rate is above 0";
  const auto over_samples = [&r] { return r.over_sample_rate > 0; };
  s.field(p + "max_num_batched_tokens", &r.max_num_batched_tokens, "Tokens of an engine step.")
      .at_least(1)
      .effect(Effect::nothing)
      .results_when(over, over_samples);
  s.field(p + "max_num_seqs", &r.max_num_seqs, "Answers in the making at once.")
      .at_least(1)
      .effect(Effect::nothing)
      .results_when(over, over_samples);
  s.field(p + "max_model_len", &r.max_model_len,
          "Has to hold the longest prompt and answer; the engine takes what those need.")
      .at_least(1)
      .effect(Effect::nothing);
  s.field(p + "prompt_length", &r.prompt_length, "As data.max_prompt_length, which it must equal.")
      .at_least(1)
      .effect(Effect::nothing);
  s.field(p + "response_length", &r.response_length, "As data.max_response_length, which it must equal.")
      .at_least(1)
      .effect(Effect::nothing);
  s.field(p + "enable_chunked_prefill", &r.enable_chunked_prefill, "Cut long prompts over several engine steps.")
      .effect(Effect::nothing)
      .results_when(over, over_samples);
  s.field(p + "enable_prefix_caching", &r.enable_prefix_caching,
          "Compute the prompt of a group once, and of a request only what no earlier one began with.")
      .effect(Effect::nothing)
      .results_when(over, over_samples);
  s.field(p + "gpu_memory_utilization", &r.gpu_memory_utilization,
          "Largest share of the machine's memory for the KV cache. It takes what max_num_seqs answers of full length "
          "need; with less, some answers are sent back and computed again.")
      .above(0)
      .at_most(1)
      .effect(Effect::nothing)
      .results_when(over, over_samples);
  s.field(p + "free_cache_engine", &r.free_cache_engine,
          "Give the memory of the KV cache back to the system while training.")
      .effect(Effect::nothing);
  s.field(p + "ignore_eos", &r.ignore_eos, "Go on after an end id, to the full length.");
  s.field(p + "task_queue", &r.task_queue,
          "1: answers become text and are scored on a thread of its own as soon as their group is complete; 0: after "
          "the rollout.")
      .at_least(0)
      .at_most(1)
      .because("2, the next schedule prepared ahead, would hide less than 0.1 % of a step (docs/log.md)")
      .effect(Effect::nothing);
  s.field(p + "over_sample_rate", &r.over_sample_rate,
          "Begin (1 + this) * data.train_batch_size prompts, train on the first that are complete and carry the others "
          "over, with what they have, to the next step (verl: begins the batch and drops this share of it).")
      .at_least(0)
      .at_most(16);
  const auto stops = [&r] { return r.early_stop.enable; };
  const char* stop = "early_stop.enable is true";
  s.field(p + "early_stop.enable", &r.early_stop.enable,
          "Cap the answers of a step at factor times the length expected of its prompts "
          "(VLLM_ROLLOUT_EARLY_STOP_ENABLE).");
  s.field(p + "early_stop.factor", &r.early_stop.factor, "Cap over expected length (VLLM_ROLLOUT_EARLY_STOP_FACTOR).")
      .above(0)
      .when(stop, stops);
  s.field(p + "early_stop.min_tokens", &r.early_stop.min_tokens,
          "Lowest cap, in tokens (VLLM_ROLLOUT_EARLY_STOP_MIN_TOKENS).")
      .at_least(1)
      .when(stop, stops);
  s.field(p + "val_kwargs.n", &r.val_kwargs.n, "Answers to each validation prompt.").at_least(1).at_most(1000000);
  s.field(p + "val_kwargs.do_sample", &r.val_kwargs.do_sample, "Sample in validation; else the likeliest token.");
  const char* when = "val_kwargs.do_sample is true";
  const auto sampled = [&r] { return r.val_kwargs.do_sample; };
  s.field(p + "val_kwargs.temperature", &r.val_kwargs.temperature, "Temperature of validation.")
      .at_least(0)
      .when(when, sampled);
  s.field(p + "val_kwargs.top_p", &r.val_kwargs.top_p, "Validation draws from the likeliest tokens up to this share.")
      .above(0)
      .at_most(1)
      .when(when, sampled);
  s.field(p + "val_kwargs.top_k", &r.val_kwargs.top_k,
          "Validation draws from the so many likeliest tokens; -1 or 0 = all.")
      .at_least(-1)
      .when(when, sampled);
}

void add_speculation_fields(Schema& s, SpeculativeRecipe& r) {
  const std::string p = "actor_rollout_ref.rollout.engine_kwargs.vllm.speculative_config.";
  const char* when = "speculative_config.method is set";
  const auto on = [&r] { return r.method.has_value(); };
  s.field(
       p + "method", &r.method,
       "Speculation without a draft model: sam proposes what followed the same tokens before, and keeps what the model "
       "draws itself. It changes the speed alone.")
      .one_of({"sam"})
      .because("other ways of drafting are not there")
      .effect(Effect::nothing)
      .also_called({"spec_method"});
  s.field(p + "num_speculative_tokens", &r.num_speculative_tokens,
          "Most drafts of an answer in an engine step; how many it gets follows from what rows cost and from how many "
          "were right.")
      .at_least(1)
      .at_most(1024)
      .effect(Effect::nothing)
      .when(when, on);
  s.field(p + "disable_by_batch_size", &r.disable_by_batch_size,
          "No drafts in steps of more answers; null = what rows cost alone decides (verl: "
          "VLLM_SPECULATIVE_BATCH_SIZE_THRE).")
      .at_least(1)
      .effect(Effect::nothing)
      .when(when, on);
  s.field(p + "from_group", &r.from_group, "Draft from the other answers of the group as well.")
      .effect(Effect::nothing)
      .when(when, on);
  s.field(p + "from_history", &r.from_history,
          "Draft from the latest answers to the same prompt as well; checkpoints keep them.")
      .effect(Effect::nothing)
      .when(when, on);
  s.field(p + "max_history_tokens", &r.max_history_tokens,
          "Tokens of prompts and answers kept for that; the oldest go first.")
      .at_least(0)
      .at_most(1 << 30)
      .effect(Effect::nothing)
      .when("speculative_config.from_history is true", [&r] { return r.method.has_value() && r.from_history; });
}

}  // namespace hone
