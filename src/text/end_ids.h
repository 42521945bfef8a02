// The ids on which a model ends its answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace hone {

struct EndIds {
  std::vector<int32_t> ids;  // each once; may be empty
  std::string note;          // empty when the model's own files name them; else a sentence for the user
};

// `eos_token_id` (an id or a list) of generation_config.json, then of config.json. When neither names one: the id of
// `eos_token` in tokenizer_config.json or special_tokens_map.json, with a note. A file that is absent says nothing.
// Raises Error, with file and place, for what is no id, and for an id that the tokenizer does not have: it is never
// sampled, so no answer would end on it.
EndIds find_end_ids(const std::string& folder, const Tokenizer& tokenizer);

}  // namespace hone
