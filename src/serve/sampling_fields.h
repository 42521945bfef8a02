// How an answer is to be drawn, as fields of a JSON object: OpenAI's names, and vLLM's where OpenAI has none. Requests
// to the server and rows of `hone generate --jsonl` have the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.h"
#include "rollout/sequence.h"

namespace hone::serve {

struct SamplingRequest {
  SamplingParams sampling;            // without key, end ids and what the tokenizer tells
  int64_t n = 1;                      // answers
  std::optional<int64_t> max_tokens;  // of an answer
  std::optional<uint64_t> seed;
};

constexpr int64_t kMaxAnswers = 128, kMaxStops = 16, kMaxStopBytes = 1024;

// Takes the field when it is one of: n, max_tokens, max_completion_tokens, temperature, top_p, top_k, min_p,
// repetition_penalty, presence_penalty, frequency_penalty, min_tokens, stop, stop_token_ids, ignore_eos, seed. null
// leaves things as they are. Raises RequestError (400), naming the field, for a value that it cannot have.
bool take_sampling_field(const std::string& name, const io::Json& value, SamplingRequest& request);

// What fields alone cannot tell: stop ids the tokenizer has, an answer longer than its minimum. Raises as above.
void check_sampling_fields(const SamplingRequest& request, int64_t vocab_size);

// For fields of other requests: the value, or RequestError naming the field, what was expected and what was found.
int64_t int_field(const std::string& name, const io::Json& value, int64_t least, int64_t most);
double number_field(const std::string& name, const io::Json& value, double least, double most);
bool bool_field(const std::string& name, const io::Json& value);
const std::string& text_field(const std::string& name, const io::Json& value);
[[noreturn]] void refuse_field(const std::string& name, const std::string& expected, const io::Json& found);

}  // namespace hone::serve
