// What reader and writer of the tokenizer of a GGUF file share. Private to text/gguf_*.cc.
#pragma once

#include <cstdint>
#include <utility>

namespace hone::text {

// tokenizer.ggml.token_type, numbered as in a file.
enum GgufTokenType : int64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5 };

// Special tokens, as tokenizer_config.json and as a GGUF file call them.
constexpr std::pair<const char*, const char*> kGgufSpecialTokens[] = {{"bos_token", "tokenizer.ggml.bos_token_id"},
                                                                      {"eos_token", "tokenizer.ggml.eos_token_id"},
                                                                      {"unk_token", "tokenizer.ggml.unknown_token_id"},
                                                                      {"pad_token", "tokenizer.ggml.padding_token_id"}};

}  // namespace hone::text
