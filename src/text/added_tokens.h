// Added tokens: strings that become one id before anything else is done with the text. Of several that match, the
// leftmost wins, and of those the longest; matches do not overlap. What a match then does (words, white space at its
// sides) follows Hugging Face's tokenizers, its corners included: a match that is thrown away has still used up its
// text, and white space swallowed at the right end is searched for matches all the same.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::text {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool special = false;                 // a control token: not made from text unless asked for, left out of shown text
  bool normalized = false;              // looked for in the normalised text, otherwise in the text as given
  bool single_word = false;             // only where no character of a word stands beside it
  bool lstrip = false, rstrip = false;  // swallows the white space before, after
};

class AddedTokenMatcher {
 public:
  struct Part {
    size_t begin = 0, end = 0;
    int32_t id = -1;  // of the token; -1: text between tokens, not empty
  };
  AddedTokenMatcher() = default;
  // Contents are not empty.
  explicit AddedTokenMatcher(std::vector<AddedToken> tokens);
  bool empty() const { return tokens_.empty(); }
  // The parts of the text in order. Without `allow_special` the content of a special token is text like any other.
  std::vector<Part> split(std::string_view text, bool allow_special) const;

 private:
  struct Node {
    int32_t token = -1;                                     // index into tokens_ that ends here
    std::vector<std::pair<unsigned char, uint32_t>> edges;  // few: searched one by one
  };
  // The longest token at text[begin], as an index into tokens_, or -1.
  int32_t match_at(std::string_view text, size_t begin) const;
  size_t next_candidate(std::string_view text, size_t begin) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> trie_;
  std::array<bool, 256> begins_{};  // bytes a token begins with
  int single_first_ = -1;           // the one byte they all begin with, if it is one
};

}  // namespace hone::text
