#include "text/added_tokens.h"

#include <algorithm>
#include <cstring>

#include "text/unicode.h"
#include "text/utf8.h"

namespace hone::text {

namespace {

bool ends_in_word(std::string_view text) {
  return !text.empty() && is_word_character(decode_code_point(text, code_point_before(text, text.size())).value);
}
bool begins_with_word(std::string_view text) {
  return !text.empty() && is_word_character(decode_code_point(text, 0).value);
}

// Begin of the white space that ends at `end`, not before `bound`.
size_t space_before(std::string_view text, size_t end, size_t bound) {
  while (end > bound) {
    const size_t begin = code_point_before(text, end);
    if (classify(decode_code_point(text, begin).value) != CharClass::space) break;
    end = begin;
  }
  return std::max(end, bound);
}

size_t space_after(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    const CodePoint point = decode_code_point(text, begin);
    if (classify(point.value) != CharClass::space) break;
    begin += point.size;
  }
  return begin;
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)), trie_(1) {
  for (size_t t = 0; t < tokens_.size(); ++t) {
    uint32_t node = 0;
    for (const char c : tokens_[t].content) {
      const auto byte = static_cast<unsigned char>(c);
      auto& edges = trie_[node].edges;
      const auto edge = std::find_if(edges.begin(), edges.end(), [&](const auto& e) { return e.first == byte; });
      if (edge != edges.end()) {
        node = edge->second;
      } else {
        const auto next = static_cast<uint32_t>(trie_.size());
        edges.emplace_back(byte, next);
        trie_.emplace_back();
        node = next;
      }
    }
    if (trie_[node].token < 0) trie_[node].token = static_cast<int32_t>(t);  // equal contents: the first
  }
  for (const auto& [byte, node] : trie_[0].edges) begins_[byte] = true;
  if (trie_[0].edges.size() == 1) single_first_ = trie_[0].edges[0].first;
}

size_t AddedTokenMatcher::next_candidate(std::string_view text, size_t begin) const {
  if (single_first_ >= 0) {
    const void* found = std::memchr(text.data() + begin, single_first_, text.size() - begin);
    return found == nullptr ? text.size() : static_cast<size_t>(static_cast<const char*>(found) - text.data());
  }
  while (begin < text.size() && !begins_[static_cast<unsigned char>(text[begin])]) ++begin;
  return begin;
}

int32_t AddedTokenMatcher::match_at(std::string_view text, size_t begin) const {
  int32_t longest = -1;
  uint32_t node = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto& edges = trie_[node].edges;
    const auto edge = std::find_if(edges.begin(), edges.end(), [&](const auto& e) { return e.first == byte; });
    if (edge == edges.end()) break;
    node = edge->second;
    if (trie_[node].token >= 0) longest = trie_[node].token;
  }
  return longest;
}

std::vector<AddedTokenMatcher::Part> AddedTokenMatcher::split(std::string_view text, bool allow_special) const {
  std::vector<Part> parts;
  size_t taken = 0;                       // what stands before it has become parts
  size_t space_begin = 1, space_end = 0;  // the last white space swallowed at a right end
  const auto take_text_to = [&](size_t end) {
    if (taken < end) parts.push_back({taken, end, -1});
  };
  for (size_t at = 0; !tokens_.empty() && (at = next_candidate(text, at)) < text.size();) {
    const int32_t index = match_at(text, at);
    if (index < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(index)];
    size_t begin = at, end = at + token.content.size();
    at = end;
    if (token.special && !allow_special) continue;
    if (token.single_word && (ends_in_word(text.substr(0, begin)) || begins_with_word(text.substr(end)))) continue;
    if (token.lstrip) begin = std::max(taken, space_before(text, begin, std::min(begin, taken)));
    if (token.rstrip) {
      if (end < space_begin || end > space_end) space_end = space_after(text, space_begin = end);
      end = space_end;
    }
    take_text_to(begin);
    parts.push_back({begin, end, token.id});
    taken = end;
  }
  take_text_to(text.size());
  return parts;
}

}  // namespace hone::text
