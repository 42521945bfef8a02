// Pieces of a chat to ids. Control tokens are looked for in the scaffold alone: the text between two of them is encoded
// as one stretch with special tokens off, so no control id comes from what a user or a tool wrote, and the ids of
// harmless conversations are those of the whole text encoded at once. What the model generates is encoded apart from
// the scaffold that stands before it, as when sampling.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/chat_pieces.h"
#include "text/tokenizer.h"

namespace hone {

struct ChatIds {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<int32_t> messages;   // for each id the index of its message, -1: before the first or after the last
  std::vector<uint8_t> assistant;  // 1: an id that the model is to say (an assistant's turn and its end)
};

// Takes the loss from all turns of the assistant but the last one.
void keep_last_turn(ChatIds& chat);

namespace text {

// The special tokens of a tokenizer (which outlives this) by content alone: nothing beside them is swallowed or looked
// at.
class SpecialTokens {
 public:
  explicit SpecialTokens(const Tokenizer& tokenizer);
  std::vector<AddedTokenMatcher::Part> split(std::string_view text) const { return matcher_.split(text, true); }
  std::string_view content(int32_t id) const;  // empty when the id is no special token

 private:
  const Tokenizer& tokenizer_;
  AddedTokenMatcher matcher_;
};

ChatIds encode_chat(const std::vector<ChatPiece>& pieces, const Tokenizer& tokenizer, const SpecialTokens& specials);

}  // namespace text
}  // namespace hone
