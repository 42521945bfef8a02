#include "loop/grpo_inputs.h"

#include <algorithm>
#include <optional>

#include "loop/checks.h"
#include "loop/process_memory.h"
#include "loop/starting_weights.h"
#include "prompts/prompt_set.h"
#include "prompts/row_order.h"
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

void check_memory_of(const Recipe& recipe, const ModelConfig& config, const Tokenizer& tokenizer, DType dtype) {
  const int64_t weights = config.num_parameters() * 4, packed = config.num_parameters() * 2 * size_bytes(dtype);
  check_memory({{"weights (float32) and their packed forms", static_cast<double>(weights + packed)},
                {"gradients, moments, activations, logits",
                 Trainer::memory_bytes(config, dtype, trainer_options(recipe, tokenizer), longest_sequence(recipe))},
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

namespace {

void check_sizes(const Recipe& recipe, const ModelConfig& config) {
  if (longest_sequence(recipe) <= config.max_position_embeddings) return;
  throw Error(fmt::format("data.max_prompt_length + data.max_response_length = {}, the model's context is {}",
                          longest_sequence(recipe), config.max_position_embeddings),
              "lower one of the two");
}

RunSpace run_space(const Recipe& recipe, const GrpoInputs& inputs, int64_t steps_per_epoch) {
  const TrainerRecipe& trainer = recipe.trainer;
  return {trainer.default_local_dir, inputs.config.num_parameters(),
          trainer.total_training_steps.value_or(trainer.total_epochs * steps_per_epoch), trainer.save_freq,
          trainer.max_actor_ckpt_to_keep.value_or(0)};
}

}  // namespace

GrpoInputs load_grpo_inputs(const Recipe& recipe, DType dtype, bool quiet, bool check_only) {
  const std::string& folder = recipe.model.path;
  const DataRecipe& data = recipe.data;
  Checks checks;
  std::optional<Tokenizer> tokenizer;
  ModelConfig config;
  EndIds end_ids;
  PromptSet train, validation;
  const bool has_config = checks.run([&] { config = weights::load_config(folder); });
  if (has_config) {
    checks.run(
        [&] { check_weight_files(folder, recipe.model.load_format, check_only || starts_from_model(recipe.trainer)); });
    checks.run([&] { check_sizes(recipe, config); });
  }
  checks.run([&] { tokenizer = Tokenizer::load(folder); });
  if (tokenizer) {
    if (has_config) {
      checks.run([&] { check_vocabulary(folder, *tokenizer, config); });
      checks.run([&] { check_memory_of(recipe, config, *tokenizer, dtype); });
    }
    checks.run([&] {
      end_ids = find_end_ids(folder, *tokenizer);
      if (end_ids.ids.empty() && !recipe.rollout.ignore_eos) {
        throw Error(end_ids.note, "an answer has to end on an id, or set actor_rollout_ref.rollout.ignore_eos=true");
      }
    });
    checks.run([&] {
      const ChatTemplate chat(folder, recipe.model.custom_chat_template.value_or(""), *tokenizer);
      for (const std::string& line : chat.unused_arguments(data.apply_chat_template_kwargs)) {
        if (!quiet) fmt::print("data.apply_chat_template_kwargs.{}\n", line);
      }
      train = load_prompts(prompt_options(recipe, chat, data.train_files, data.train_max_samples, data.shuffle),
                           *tokenizer, checks.faults());
      find_unscorable(train.prompts, checks.faults());
      if (data.val_files.empty()) return;
      validation = load_prompts(prompt_options(recipe, chat, data.val_files, data.val_max_samples, false), *tokenizer,
                                checks.faults());
      find_unscorable(validation.prompts, checks.faults());
    });
  } else {
    checks.faults().add("data: the rows were not looked at, for there is no tokenizer");
  }
  checks.finish();

  if (!quiet && !end_ids.note.empty()) fmt::print("{}\n", end_ids.note);
  if (!quiet) {
    fmt::print("data: {} training prompts ({} left out, {} cut), {} validation prompts\n", train.prompts.size(),
               train.num_filtered, train.num_truncated, validation.prompts.size());
  }
  GrpoInputs inputs{std::move(*tokenizer), std::move(end_ids.ids), std::move(train.prompts),
                    std::move(validation.prompts), config};
  checks.run([&] {
    const RowOrder order(static_cast<int64_t>(inputs.train.size()), data.train_batch_size, data.shuffle,
                         recipe.data_seed());
    if (!recipe.trainer.val_only) check_run_space(run_space(recipe, inputs, order.batches_per_epoch()));
  });
  checks.finish();
  return inputs;
}

}  // namespace hone
