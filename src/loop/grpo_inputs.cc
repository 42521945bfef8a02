#include "loop/grpo_inputs.h"

#include <algorithm>
#include <cmath>

#include "algorithms/policy_loss.h"
#include "loop/old_logprobs.h"
#include "loop/recipe_scoring.h"
#include "loop/starting_weights.h"
#include "prompts/prompt_set.h"
#include "reward/scorer.h"

namespace hone {

int64_t groups_in_flight(const Recipe& recipe) {
  const auto batch = static_cast<double>(recipe.gen_batch_size());
  return static_cast<int64_t>(std::ceil(batch * (1 + recipe.rollout.over_sample_rate)));
}

std::optional<OverlongBuffer> overlong_buffer(const Recipe& recipe) {
  const OverlongRecipe& overlong = recipe.reward.overlong;
  if (!overlong.enable) return std::nullopt;
  return OverlongBuffer{recipe.max_resp_len(), overlong.len, overlong.penalty_factor};
}

TrainerOptions critic_trainer_options(const Recipe& recipe, const TrainerOptions& actor) {
  TrainerOptions options = actor;
  options.optimizer = trainer_options(recipe.critic.optim, recipe.critic.grad_clip, 0).optimizer;
  return options;
}

namespace {

int64_t longest_sequence(const Recipe& recipe) {
  return recipe.data.max_prompt_length + recipe.data.max_response_length;
}

// Of training and of validation rows: subsets of both are drawn alike, as in verl.
PromptSetOptions prompt_options(const Recipe& recipe, const ChatTemplate& chat, const Texts& files,
                                int64_t max_samples) {
  PromptSetOptions options;
  options.chat.chat = &chat;
  options.chat.arguments = recipe.data.apply_chat_template_kwargs;
  options.files = files;
  options.keep_rows = has_custom_scorer(recipe.reward);
  options.prompt_key = recipe.data.prompt_key;
  options.reward_fn_key = recipe.data.reward_fn_key;
  options.default_data_source = recipe.data.default_data_source.value_or("");
  options.answer_key = recipe.data.answer_key.value_or("");
  options.prompt_suffix = recipe.data.prompt_suffix.value_or("");
  options.text_as_message = recipe.data.text_prompts == "message";
  options.max_prompt_length = recipe.data.max_prompt_length;
  options.filter_overlong_prompts = recipe.data.filter_overlong_prompts;
  options.truncation = *truncation(recipe.data.truncation);
  options.max_samples = max_samples;
  options.shuffle = recipe.data.shuffle;
  options.seed = recipe.data_seed();
  return options;
}

std::optional<SpeculationOptions> speculation_options(const SpeculativeRecipe& recipe) {
  if (!recipe.method) return std::nullopt;
  SpeculationOptions options;
  options.num_speculative_tokens = recipe.num_speculative_tokens;
  options.disable_by_batch_size = recipe.disable_by_batch_size.value_or(0);
  options.from_group = recipe.from_group;
  options.from_history = recipe.from_history;
  options.max_history_ids = recipe.max_history_tokens;
  return options;
}

EngineOptions engine_options(const Recipe& recipe) {
  const int64_t block = kernels::kKvBlock;
  const int64_t answers = std::max(groups_in_flight(recipe) * recipe.rollout.n, int64_t{64});
  EngineOptions options;
  options.max_num_seqs = std::min(recipe.rollout.max_num_seqs, answers);
  options.max_num_batched_tokens = recipe.rollout.max_num_batched_tokens;
  options.enable_chunked_prefill = recipe.rollout.enable_chunked_prefill;
  options.enable_prefix_sharing = options.enable_prefix_caching = recipe.rollout.enable_prefix_caching;
  options.speculation = speculation_options(recipe.rollout.speculative_config);
  // every running answer at its full length, and one block to spare for each
  options.num_kv_blocks = options.max_num_seqs * ((longest_sequence(recipe) + block - 1) / block + 1);
  return options;
}

InputOptions input_options(const Recipe& recipe, DType dtype, const RunFlags& flags) {
  const ActorRecipe& actor = recipe.actor;
  InputOptions options;
  options.folder = recipe.model.path;
  options.load_format = recipe.model.load_format;
  options.needs_weight_files =
      flags.check_only || recipe.has_reference() || starts_from_model(recipe.trainer) || recipe.model.lora.is_on();
  options.custom_chat_template = recipe.model.custom_chat_template.value_or("");
  options.chat_arguments = recipe.data.apply_chat_template_kwargs;
  options.longest_key = "data.max_prompt_length + data.max_response_length";
  options.longest_sequence = longest_sequence(recipe);
  options.dtype = dtype;
  options.trainer = trainer_options(actor.optim, actor.grad_clip,
                                    std::max(actor.ppo_max_token_len_per_gpu, longest_sequence(recipe)));
  options.lora = recipe.model.lora;
  options.recompute = recipe.model.recompute.choice();
  options.trainer.share_prompts = actor.use_prefix_grouper;
  if (!actor.use_dynamic_bsz) options.trainer.micro_batch_sequences = actor.ppo_micro_batch_size_per_gpu.value_or(0);
  options.step_ids = static_cast<double>(actor.ppo_mini_batch_size) * static_cast<double>(recipe.rollout.n) *
                     static_cast<double>(longest_sequence(recipe));
  const bool scores = recipe.has_reference() || recipe.has_critic() || scores_old_logprobs(recipe) ||
                      recipe.algorithm.rollout_correction.bypass_mode ||
                      algorithms::find_policy_loss(actor.policy_loss.loss_mode)->whole_batch;
  if (scores) {
    options.score_ids = static_cast<double>(recipe.data.train_batch_size) * static_cast<double>(recipe.rollout.n) *
                        static_cast<double>(longest_sequence(recipe));
  }
  options.reference = recipe.has_reference() && !recipe.model.lora.is_on();
  if (recipe.has_critic()) {
    const TrainerOptions critic = critic_trainer_options(recipe, options.trainer);
    options.critic = {recipe.critic_folder(), critic.optimizer.moments,
                      static_cast<double>(recipe.critic_mini_batch_size()) * static_cast<double>(recipe.rollout.n) *
                          static_cast<double>(longest_sequence(recipe))};
  }
  options.engine = engine_options(recipe);
  options.kv_share = recipe.rollout.gpu_memory_utilization;
  if (!recipe.rollout.ignore_eos) {
    options.end_id_hint = "an answer has to end on an id, or set actor_rollout_ref.rollout.ignore_eos=true";
  }
  options.quiet = flags.quiet;
  return options;
}

}  // namespace

GrpoInputs load_grpo_inputs(const Recipe& recipe, DType dtype, const RunFlags& flags) {
  const DataRecipe& data = recipe.data;
  ScoringRules scoring = scoring_rules(recipe);
  PromptSet train, validation;
  const auto load_rows = [&](const Tokenizer& tokenizer, const EndIds&, const ChatTemplate& chat, io::Faults& faults) {
    train = load_prompts(prompt_options(recipe, chat, data.train_files, data.train_max_samples), tokenizer, faults);
    find_unscorable(train.prompts, faults, scoring);
    if (data.val_files.empty()) return;
    validation = load_prompts(prompt_options(recipe, chat, data.val_files, data.val_max_samples), tokenizer, faults);
    find_unscorable(validation.prompts, faults, scoring);
  };
  ModelInputs model = load_model_inputs(input_options(recipe, dtype, flags), load_rows);
  if (!flags.quiet) {
    fmt::print("data: {} training prompts ({} left out, {} cut), {} validation prompts\n", train.prompts.size(),
               train.num_filtered, train.num_truncated, validation.prompts.size());
  }
  return {std::move(model), std::move(train.prompts), std::move(validation.prompts), std::move(scoring)};
}

}  // namespace hone
