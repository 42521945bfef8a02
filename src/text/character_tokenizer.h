// A tokenizer in which each character is one token, for toy tasks; written as a tokenizer.json that other readers of
// such files (Hugging Face's tokenizers) load too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

// Makes FOLDER/tokenizer.json and tokenizer_config.json. `characters`: distinct ASCII, ids 0, 1, ... in this order;
// then `special_tokens`. `end_token` is one of them: what the configuration names as end of sequence.
void write_character_tokenizer(const std::string& folder, std::string_view characters,
                               const std::vector<std::string>& special_tokens, const std::string& end_token);

}  // namespace hone
