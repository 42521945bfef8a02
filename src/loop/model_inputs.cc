#include "loop/model_inputs.h"

#include <algorithm>
#include <utility>

#include "loop/checks.h"
#include "loop/process_memory.h"
#include "loop/rollout_memory.h"
#include "loop/starting_weights.h"
#include "weights/hf_config.h"
#include "weights/model_files.h"

namespace hone {

namespace {

void check_context(const InputOptions& options, const ModelConfig& config) {
  if (options.longest_sequence <= config.max_position_embeddings) return;
  throw Error(fmt::format("{} = {}, the model's context is {}", options.longest_key, options.longest_sequence,
                          config.max_position_embeddings),
              "lower it");
}

// At most the given share of the machine's memory, at least what the longest sequence needs.
int64_t planned_kv_blocks(const InputOptions& options, const ModelConfig& config) {
  const int64_t block = kernels::kKvBlock, least = (options.longest_sequence + block - 1) / block;
  const double share = options.kv_share * static_cast<double>(machine_bytes());
  const auto held = static_cast<int64_t>(share / static_cast<double>(KvCache::block_bytes(config, options.dtype)));
  return std::max(least, std::min(options.engine->num_kv_blocks, held));
}

double trained_parameters(const ModelConfig& config, const LoraConfig& lora) {
  return static_cast<double>(lora.rank > 0 ? LoraLayout(ModelLayout(config), lora).num_parameters()
                                           : config.num_parameters());
}

TrainerMemory critic_memory(const InputOptions& options, const ModelConfig& critic, TrainerOptions trainer) {
  trainer.optimizer.moments = options.critic->moments;
  return Trainer::memory(
      critic, options.dtype, trainer,
      {static_cast<double>(options.longest_sequence), options.critic->step_ids, options.score_ids, 0});
}

// `critic` has a configuration where there is one.
std::vector<MemoryPart> memory_parts(const InputOptions& options, const ModelConfig& config,
                                     const std::optional<ModelConfig>& critic, const TrainerOptions& trainer,
                                     const LoraConfig& lora, const std::optional<EngineOptions>& engine) {
  const double trained = trained_parameters(config, lora);
  const bool is_lora = lora.rank > 0;
  const double own = Decoder::weight_bytes(config, options.dtype, is_lora ? DecoderUse::sample : DecoderUse::train);
  const TrainerMemory training =
      Trainer::memory(config, options.dtype, trainer,
                      {static_cast<double>(options.longest_sequence), options.step_ids, options.score_ids, trained});
  // training, sampling and the critic take turns
  double scratch = training.scratch;
  TrainerMemory of_critic;
  if (critic) of_critic = critic_memory(options, *critic, trainer);
  scratch = std::max(scratch, of_critic.scratch);
  if (engine) {
    scratch = std::max(scratch, rollout_scratch_bytes(config, options.dtype, *engine, options.longest_sequence));
  }
  std::vector<MemoryPart> parts{{"weights", own + (is_lora ? 4 * trained : 0)},
                                {"gradients and moments", training.states},
                                {"weights as backward reads them", training.transposed},
                                {"activations of a micro-batch", training.activations + training.kv},
                                {"buffers of a pass, and logits", scratch}};
  if (engine) {
    parts.push_back({"KV cache of the rollout", KvCache::memory_bytes(config, options.dtype, engine->num_kv_blocks)});
  }
  if (options.reference) {
    parts.push_back({"reference model", Decoder::weight_bytes(config, options.dtype, DecoderUse::sample)});
  }
  if (critic) {
    const double weights = Decoder::weight_bytes(*critic, options.dtype, DecoderUse::train);
    parts.push_back({"critic", weights + of_critic.bytes() - of_critic.scratch});
  }
  return parts;
}

// Keeps as much as fits where the user leaves the choice. Raises Error when the run does not fit.
void choose_recompute(const InputOptions& options, const ModelConfig& config, const std::optional<ModelConfig>& critic,
                      const LoraConfig& lora, const std::optional<EngineOptions>& engine, TrainerOptions& trainer) {
  for (const Recompute mode : {Recompute::none, Recompute::selective, Recompute::full}) {
    trainer.recompute = options.recompute.value_or(mode);
    if (fits_memory(memory_parts(options, config, critic, trainer, lora, engine))) return;
  }
  check_memory(memory_parts(options, config, critic, trainer, lora, engine));
}

// A critic of its own folder has to know the same ids, and to hold as long a sequence.
ModelConfig load_critic_config(const InputOptions& options, const Tokenizer& tokenizer) {
  const std::string& folder = options.critic->folder;
  ModelConfig config = weights::load_config(folder);
  if (folder != options.folder) {
    check_vocabulary(folder, tokenizer, config);
    check_context(options, config);
    if (options.load_format != "dummy" && options.needs_weight_files) weights::open_value_files(folder, config);
  }
  config.value_head = true;
  return config;
}

}  // namespace

std::string ModelInputs::parameters_text() const {
  const std::string all = fmt::format("{} parameters", config.num_parameters());
  return lora.rank == 0 ? all : fmt::format("{} of {}", trained_parameters, all);
}

ModelInputs load_model_inputs(const InputOptions& options, const LoadRows& load_rows) {
  const std::string& folder = options.folder;
  Checks checks;
  ModelConfig config;
  std::optional<Tokenizer> tokenizer;
  EndIds end_ids;
  TrainerOptions trainer = options.trainer;
  LoraConfig lora;
  const bool has_config = checks.run([&] { config = weights::load_config(folder); });
  checks.run([&] { lora = options.lora.config(); });
  std::optional<ModelConfig> critic;
  if (has_config) {
    checks.run([&] { check_weight_files(folder, options.load_format, options.needs_weight_files); });
    checks.run([&] { check_context(options, config); });
  }
  checks.run([&] { tokenizer = Tokenizer::load(folder); });
  if (!tokenizer) {
    checks.faults().add("data: the rows were not looked at, for there is no tokenizer");
    checks.finish();
  }
  trainer.valid_vocab = tokenizer->vocab_size();
  std::optional<EngineOptions> engine = options.engine;
  if (has_config) {
    if (engine) engine->num_kv_blocks = planned_kv_blocks(options, config);
    checks.run([&] { check_vocabulary(folder, *tokenizer, config); });
    if (options.critic) checks.run([&] { critic = load_critic_config(options, *tokenizer); });
    checks.run([&] { choose_recompute(options, config, critic, lora, engine, trainer); });
  }
  checks.run([&] {
    end_ids = find_end_ids(folder, *tokenizer);
    if (end_ids.ids.empty() && options.end_id_hint) throw Error(end_ids.note, *options.end_id_hint);
  });
  checks.run([&] {
    const ChatTemplate chat(folder, options.custom_chat_template, *tokenizer);
    for (const std::string& line : chat.unused_arguments(options.chat_arguments)) {
      if (!options.quiet) fmt::print("data.apply_chat_template_kwargs.{}\n", line);
    }
    load_rows(*tokenizer, end_ids, chat, checks.faults());
  });
  checks.finish();
  if (!options.quiet && !end_ids.note.empty()) fmt::print("{}\n", end_ids.note);
  const auto trained = static_cast<int64_t>(trained_parameters(config, lora));
  return {config, critic, std::move(*tokenizer), std::move(end_ids), trainer, lora, trained, engine};
}

}  // namespace hone
