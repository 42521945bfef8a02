// Components of a tokenizer.json as Qwen2 and Qwen3 have them, for files that are written or completed here.
#pragma once

#include "io/json.h"

namespace hone::text {

// ByteLevel without a cut of its own: step, post-processor and decoder.
io::Json byte_level_component();
// Split by Qwen's regular expression, then ByteLevel.
io::Json qwen_pre_tokenizer();

}  // namespace hone::text
