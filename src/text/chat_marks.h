// Marks: how the control tokens of a template's own text are told from the same characters in a conversation, whatever
// the template does with either. Every control token that stands in the template's source (or in the variables that the
// tokenizer gives it, such as bos_token) is replaced by a mark before rendering, and turned back after it; what then
// still looks like a control token came from the conversation. Marks are made of noncharacters of Unicode, which no
// text for interchange holds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat_encoder.h"
#include "text/chat_pieces.h"

namespace hone::text {

// Whether the text holds one of U+FDD0 to U+FDD3, which marks are made of.
bool holds_mark(std::string_view text);
// Special tokens become marks.
std::string mark_specials(std::string_view text, const SpecialTokens& specials);

// A marked rendering as pieces: marks are scaffold, all else content; {% generation %} blocks (U+FDD2 to U+FDD3) are
// generated. Nothing when a template has torn a mark apart.
std::optional<std::vector<ChatPiece>> pieces_of_marked(std::string_view marked, const SpecialTokens& specials);

}  // namespace hone::text
