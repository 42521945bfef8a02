// The older form of a byte-level tokenizer: vocab.json, merges.txt, and the added tokens in tokenizer_config.json. How
// text is cut is in none of them but follows from the tokenizer's class, of which Qwen2's is known.
#pragma once

#include <string>

#include "io/json.h"

namespace hone::text {

// The files of the folder as one tokenizer.json would say it.
io::Json read_vocab_files(const std::string& folder);

}  // namespace hone::text
