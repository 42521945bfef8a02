#include "text/added_tokens.h"

#include <algorithm>

namespace hone::text {

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::stable_sort(tokens_.begin(), tokens_.end(),
                   [](const AddedToken& a, const AddedToken& b) { return a.content.size() > b.content.size(); });
  for (size_t t = 0; t < tokens_.size(); ++t) {
    by_first_byte_[static_cast<unsigned char>(tokens_[t].content[0])].push_back(t);
  }
}

AddedTokenMatcher::Match AddedTokenMatcher::find(std::string_view text, size_t begin, bool allow_special) const {
  for (size_t i = begin; i < text.size() && !tokens_.empty(); ++i) {
    for (const size_t t : by_first_byte_[static_cast<unsigned char>(text[i])]) {
      const AddedToken& token = tokens_[t];
      if (token.special && !allow_special) continue;
      if (text.substr(i).starts_with(token.content)) return {i, i + token.content.size(), token.id};
    }
  }
  return {text.size(), text.size(), -1};
}

}  // namespace hone::text
