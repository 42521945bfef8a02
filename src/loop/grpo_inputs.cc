#include "loop/grpo_inputs.h"

#include <algorithm>

#include "loop/process_memory.h"
#include "loop/starting_weights.h"
#include "prompts/prompt_set.h"
#include "reward/scorer.h"
#include "text/chat_template.h"
#include "text/end_ids.h"
#include "weights/hf_config.h"

namespace hone {

namespace {

int64_t longest_sequence(const Recipe& recipe) {
  return recipe.data.max_prompt_length + recipe.data.max_response_length;
}

PromptSetOptions prompt_options(const Recipe& recipe, const ChatTemplate& chat, const Texts& files, int64_t max_samples,
                                bool shuffle) {
  PromptSetOptions options;
  options.chat.chat = &chat;
  options.chat.arguments = recipe.data.apply_chat_template_kwargs;
  options.files = files;
  options.prompt_key = recipe.data.prompt_key;
  options.reward_fn_key = recipe.data.reward_fn_key;
  options.max_prompt_length = recipe.data.max_prompt_length;
  options.filter_overlong_prompts = recipe.data.filter_overlong_prompts;
  options.truncation = *truncation(recipe.data.truncation);
  options.max_samples = max_samples;
  options.shuffle = shuffle;
  options.seed = recipe.data_seed();
  return options;
}

void check_memory_of(const Recipe& recipe, const GrpoInputs& inputs, DType dtype) {
  const ModelConfig& config = inputs.config;
  const int64_t weights = config.num_parameters() * 4, packed = config.num_parameters() * 2 * size_bytes(dtype);
  check_memory(
      {{"weights (float32) and their packed forms", static_cast<double>(weights + packed)},
       {"gradients, moments, activations, logits",
        Trainer::memory_bytes(config, dtype, trainer_options(recipe, inputs.tokenizer), longest_sequence(recipe))},
       {"KV cache of the rollout", static_cast<double>(engine_options(recipe).num_kv_blocks) *
                                       static_cast<double>(KvCache::block_bytes(config, dtype))}});
}

}  // namespace

TrainerOptions trainer_options(const Recipe& recipe, const Tokenizer& tokenizer) {
  const ActorRecipe& actor = recipe.actor;
  TrainerOptions options;
  options.optimizer.beta1 = static_cast<float>(actor.optim.betas[0]);
  options.optimizer.beta2 = static_cast<float>(actor.optim.betas[1]);
  options.optimizer.weight_decay = static_cast<float>(actor.optim.weight_decay);
  options.optimizer.grad_clip = static_cast<float>(actor.grad_clip);
  options.micro_batch_tokens = std::max(actor.ppo_max_token_len_per_gpu, longest_sequence(recipe));
  options.valid_vocab = tokenizer.vocab_size();
  return options;
}

EngineOptions engine_options(const Recipe& recipe) {
  const int64_t block = kernels::kKvBlock;
  const int64_t answers = std::max(recipe.data.train_batch_size * recipe.rollout.n, int64_t{64});
  EngineOptions options;
  options.max_num_seqs = std::min(recipe.rollout.max_num_seqs, answers);
  options.max_num_batched_tokens = recipe.rollout.max_num_batched_tokens;
  options.enable_chunked_prefill = recipe.rollout.enable_chunked_prefill;
  options.enable_prefix_sharing = recipe.rollout.enable_prefix_caching;
  // every running answer at its full length, and one block to spare for each
  options.num_kv_blocks = options.max_num_seqs * ((longest_sequence(recipe) + block - 1) / block + 1);
  return options;
}

GrpoInputs load_grpo_inputs(const Recipe& recipe, DType dtype, bool quiet, bool check_only) {
  GrpoInputs inputs{Tokenizer::load(recipe.model.path), {}, {}, {}, weights::load_config(recipe.model.path)};
  check_weight_files(recipe.model.path, recipe.model.load_format, check_only);
  EndIds end_ids = find_end_ids(recipe.model.path, inputs.tokenizer);
  inputs.end_ids = std::move(end_ids.ids);
  if (!quiet && !end_ids.note.empty()) fmt::print("{}\n", end_ids.note);
  if (inputs.tokenizer.vocab_size() > inputs.config.vocab_size) {
    throw Error(fmt::format("{}: the tokenizer knows {} ids, the model {}", recipe.model.path,
                            inputs.tokenizer.vocab_size(), inputs.config.vocab_size),
                "take config.json and tokenizer.json from one model");
  }
  if (inputs.end_ids.empty() && !recipe.rollout.ignore_eos) {
    throw Error(end_ids.note, "an answer has to end on an id, or set actor_rollout_ref.rollout.ignore_eos=true");
  }
  if (longest_sequence(recipe) > inputs.config.max_position_embeddings) {
    throw Error(fmt::format("data.max_prompt_length + data.max_response_length = {}, the model's context is {}",
                            longest_sequence(recipe), inputs.config.max_position_embeddings),
                "lower one of the two");
  }
  io::Faults faults;
  const DataRecipe& data = recipe.data;
  const ChatTemplate chat(recipe.model.path, recipe.model.custom_chat_template.value_or(""), inputs.tokenizer);
  for (const std::string& line : chat.unused_arguments(data.apply_chat_template_kwargs)) {
    if (!quiet) fmt::print("data.apply_chat_template_kwargs.{}\n", line);
  }
  PromptSet train = load_prompts(prompt_options(recipe, chat, data.train_files, data.train_max_samples, data.shuffle),
                                 inputs.tokenizer, faults);
  PromptSet validation;
  if (!data.val_files.empty()) {
    validation = load_prompts(prompt_options(recipe, chat, data.val_files, data.val_max_samples, false),
                              inputs.tokenizer, faults);
  }
  find_unscorable(train.prompts, faults);
  find_unscorable(validation.prompts, faults);
  faults.raise_if_any("the data cannot be used as it is");
  if (!quiet) {
    fmt::print("data: {} training prompts ({} left out, {} cut), {} validation prompts\n", train.prompts.size(),
               train.num_filtered, train.num_truncated, validation.prompts.size());
  }
  inputs.train = std::move(train.prompts);
  inputs.validation = std::move(validation.prompts);
  check_memory_of(recipe, inputs, dtype);
  return inputs;
}

}  // namespace hone
