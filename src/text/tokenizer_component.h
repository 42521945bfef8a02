// Readers of the components of tokenizer.json, for text/tokenizer_file.cc; each refuses by name what it does not know.
#pragma once

#include <string>
#include <vector>

#include "io/json.h"
#include "text/added_tokens.h"
#include "text/pre_tokenizer.h"

namespace hone::text {

constexpr int64_t kMaxTokenId = (int64_t{1} << 24) - 1;  // tables by id stay small whatever the file says

const std::string& type_of(const io::JsonAt& component);
[[noreturn]] void refuse(const io::JsonAt& at, const std::string& what);
[[noreturn]] void refuse_type(const io::JsonAt& component, const char* known);
// An absent flag has its default.
bool read_flag(const io::JsonAt& component, const char* key, bool otherwise);
int32_t read_token_id(const io::JsonAt& at);

bool read_normalizer(const io::JsonAt& root);  // whether text is put into normal form C
PreTokenizer read_pre_tokenizer(const io::JsonAt& root);
std::vector<int32_t> read_prefix_ids(const io::JsonAt& root);  // of the post-processor
void check_decoder(const io::JsonAt& root);
AddedToken read_added_token(const io::JsonAt& item);  // all but its id

}  // namespace hone::text
