#include "rollout/request_checks.h"

#include <algorithm>

#include "core/error.h"
#include "kernels/attention.h"

namespace hone {

namespace {

void check_sampling(const SamplingParams& sampling, int64_t valid_vocab) {
  HONE_CHECK(sampling.min_new_tokens >= 0 && sampling.num_top_logprobs >= 0 &&
                 sampling.num_top_logprobs <= std::min<int64_t>(kMaxTopLogprobs, valid_vocab) &&
                 (sampling.stops.empty() || sampling.tokenizer != nullptr),
             "min_new_tokens {}, num_top_logprobs {}, {} stop texts", sampling.min_new_tokens,
             sampling.num_top_logprobs, sampling.stops.size());
  if (sampling.min_new_tokens == 0) return;
  for (const std::vector<int32_t>& ids : {sampling.end_ids, sampling.stop_ids}) {
    for (int32_t id : ids) HONE_CHECK(id >= 0 && id < valid_vocab, "end or stop id {} of {}", id, valid_vocab);
  }
  if (static_cast<int64_t>(sampling.end_ids.size() + sampling.stop_ids.size()) < valid_vocab) return;
  throw Error("every token is an end or a stop id, and none may come before min_new_tokens", "lower min_new_tokens");
}

}  // namespace

std::string describe(const DrawnPrompt& drawn) {
  const Prompt& prompt = *drawn.prompt;
  return prompt.file.empty() ? fmt::format("prompt {}", drawn.draw) : fmt::format("{}:{}", prompt.file, prompt.line);
}

void check_request(const DrawnPrompt& drawn, const SamplingParams& sampling, const ModelConfig& config,
                   const EngineRoom& room) {
  const std::vector<int32_t>& ids = drawn.prompt->ids;
  HONE_CHECK(sampling.max_new_tokens >= 0 && sampling.temperature >= 0 && sampling.valid_vocab >= 0 &&
                 sampling.valid_vocab <= config.vocab_size,
             "max_new_tokens {}, temperature {}, valid_vocab {} of {}", sampling.max_new_tokens, sampling.temperature,
             sampling.valid_vocab, config.vocab_size);
  check_sampling(sampling, sampling.valid_vocab == 0 ? config.vocab_size : sampling.valid_vocab);
  if (ids.empty()) {
    throw Error(fmt::format("{}: the prompt has no tokens", describe(drawn)), "an answer needs one to start from");
  }
  const int64_t num_known =  // penalties look at the ids that can be drawn
      sampling.filter.penalises() && sampling.valid_vocab > 0 ? sampling.valid_vocab : config.vocab_size;
  for (int32_t id : ids) {
    if (id >= 0 && id < num_known) continue;
    throw Error(fmt::format("{}: the prompt has token {}, the model knows {}", describe(drawn), id, num_known),
                "use the tokenizer of the model");
  }
  const int64_t num_ids = static_cast<int64_t>(ids.size()) + sampling.max_new_tokens;
  const std::string sizes = fmt::format("{}: a prompt of {} tokens and max_new_tokens {}", describe(drawn), ids.size(),
                                        sampling.max_new_tokens);
  if (config.max_position_embeddings > 0 && num_ids > config.max_position_embeddings) {
    throw Error(fmt::format("{} exceed the model's {} positions", sizes, config.max_position_embeddings),
                "shorten the prompt or the answer");
  }
  const int64_t num_computed = std::max<int64_t>(num_ids - 1, 1);  // the last id of an answer is never fed
  if (num_computed <= room.max_ids) return;
  constexpr int64_t kBlock = kernels::kKvBlock;
  if (num_computed > room.num_kv_blocks * kBlock) {
    throw Error(fmt::format("{} need {} blocks of the KV cache, which has {} ({} tokens each)", sizes,
                            (num_computed + kBlock - 1) / kBlock, room.num_kv_blocks, kBlock),
                "give the KV cache more memory, or shorten the prompt or the answer");
  }
  throw Error(fmt::format("{} exceed max_num_batched_tokens, {}", sizes, room.max_num_batched_tokens),
              "enable chunked prefill or raise max_num_batched_tokens");
}

void check_goes_on(const UnfinishedGroup& unfinished, const SamplingParams& sampling, int64_t vocab_size) {
  HONE_CHECK(!unfinished.samples.empty(), "draw {} without samples", unfinished.drawn.draw);
  if (unfinished.temperature != sampling.temperature) {
    throw Error(fmt::format("{}: was begun at temperature {}, and would go on at {}", describe(unfinished.drawn),
                            unfinished.temperature, sampling.temperature),
                "go on at the temperature of then");
  }
  const int64_t valid_vocab = sampling.valid_vocab == 0 ? vocab_size : sampling.valid_vocab;
  for (const UnfinishedSample& sample : unfinished.samples) {
    HONE_CHECK(
        sample.logprobs.size() == sample.response_ids.size() && sample.versions.size() == sample.response_ids.size(),
        "{} ids, {} log-probs, {} versions", sample.response_ids.size(), sample.logprobs.size(),
        sample.versions.size());
    for (int32_t id : sample.response_ids) {
      if (id >= 0 && id < valid_vocab) continue;
      throw Error(fmt::format("{}: an unfinished answer has token {}, the tokenizer knows {}",
                              describe(unfinished.drawn), id, valid_vocab),
                  "go on with the model it was begun with");
    }
  }
}

}  // namespace hone
