// tokenizer.ggml.token_type, numbered as in a GGUF file.
#pragma once

#include <cstdint>

namespace hone::text {

enum GgufTokenType : int64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5 };

}  // namespace hone::text
