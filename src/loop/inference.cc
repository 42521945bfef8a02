#include "loop/inference.h"

#include <algorithm>
#include <utility>

#include "loop/checks.h"
#include "loop/numeric_mode.h"
#include "loop/process_memory.h"
#include "loop/rollout_memory.h"
#include "text/end_ids.h"
#include "weights/hf_config.h"
#include "weights/hf_folder.h"

namespace hone {

namespace {

int64_t longest_prompt(std::span<const Prompt> prompts) {
  size_t longest = 0;
  for (const Prompt& prompt : prompts) longest = std::max(longest, prompt.ids.size());
  return static_cast<int64_t>(longest);
}

}  // namespace

int64_t answer_limit(int64_t context, std::optional<int64_t> wanted, int64_t fallback, int64_t longest_prompt) {
  const int64_t left = context - longest_prompt;
  if (wanted.value_or(0) < 0) throw Error(fmt::format("--max-new-tokens: expected at least 0, found {}", *wanted));
  if (left < 1 || wanted.value_or(0) > left) {
    throw Error(fmt::format("the longest prompt is {} ids, the answer {}, the model's context {}", longest_prompt,
                            wanted.value_or(fallback), context),
                "lower --max-new-tokens or shorten the prompt");
  }
  return wanted.value_or(std::min(fallback, left));
}

int64_t answer_limit(const std::string& folder, std::optional<int64_t> wanted, int64_t fallback,
                     std::span<const Prompt> prompts) {
  return answer_limit(weights::load_config(folder).max_position_embeddings, wanted, fallback, longest_prompt(prompts));
}

void check_temperature(double temperature) {
  if (temperature == 0 || (temperature >= 1e-4 && temperature <= 1e4)) return;
  throw Error(fmt::format("--temperature: expected 0 or 0.0001 to 10000, found {}", temperature));
}

Inference::Inference(const std::string& folder, Tokenizer tokenizer, const std::string& dtype, int threads,
                     int64_t max_num_seqs, std::span<const Prompt> prompts, int64_t max_new_tokens,
                     int64_t num_speculative_tokens)
    : Inference(folder, std::move(tokenizer), dtype, threads, [&](const ModelConfig&, DType) {
        if (num_speculative_tokens < 0) {
          throw Error(fmt::format("--speculative-tokens: expected at least 0, found {}", num_speculative_tokens));
        }
        EngineOptions options;
        options.max_num_seqs = max_num_seqs;
        options.max_num_batched_tokens = std::max<int64_t>(2048, max_num_seqs);
        if (num_speculative_tokens > 0) {
          options.speculation = SpeculationOptions();
          options.speculation->num_speculative_tokens = num_speculative_tokens;
          options.speculation->from_history = false;  // every prompt comes once
        }
        const int64_t block = kernels::kKvBlock;
        const int64_t longest = longest_prompt(prompts) + max_new_tokens;
        options.num_kv_blocks = max_num_seqs * ((longest + block - 1) / block + 1);
        return options;
      }) {}

Inference::Inference(const std::string& folder, Tokenizer tokenizer, const std::string& dtype_name, int threads,
                     const ChooseEngine& choose)
    : ctx_(resolve_threads(threads)), tokenizer_(std::move(tokenizer)), end_ids_(find_end_ids(folder, tokenizer_)) {
  const DType dtype = resolve_dtype(dtype_name, ctx_.target);
  const ModelConfig config = weights::load_config(folder);
  check_vocabulary(folder, tokenizer_, config);
  const EngineOptions options = choose(config, dtype);
  const int64_t longest = std::max<int64_t>(1, config.max_position_embeddings);
  check_memory({{"weights", Decoder::weight_bytes(config, dtype, DecoderUse::sample)},
                {"buffers of a pass, and logits", rollout_scratch_bytes(config, dtype, options, longest)},
                {"KV cache", KvCache::memory_bytes(config, dtype, options.num_kv_blocks)}});
  decoder_ = weights::load_decoder(ctx_, folder, dtype, DecoderUse::sample);
  engine_ = std::make_unique<Engine>(ctx_, *decoder_, options);
}

}  // namespace hone
