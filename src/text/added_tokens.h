// Added tokens: strings that become one id before anything else is done with the text. Of several that match, the
// leftmost wins, and of those the longest.
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
  bool special = false;     // a control token: not made from text unless asked for, left out of shown text
  bool normalized = false;  // looked for in the normalised text, otherwise in the text as given
};

class AddedTokenMatcher {
 public:
  struct Match {
    size_t begin = 0, end = 0;  // empty at the end of the text: none found
    int32_t id = -1;
  };
  AddedTokenMatcher() = default;
  // Contents are not empty.
  explicit AddedTokenMatcher(std::vector<AddedToken> tokens);
  Match find(std::string_view text, size_t begin, bool allow_special) const;

 private:
  std::vector<AddedToken> tokens_;                      // longest first
  std::array<std::vector<size_t>, 256> by_first_byte_;  // indices into tokens_
};

}  // namespace hone::text
