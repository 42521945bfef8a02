// Which part of a rendered conversation the model is to say, for templates that do not tell.
#pragma once

#include <functional>
#include <vector>

#include "io/json.h"
#include "text/chat_pieces.h"

namespace hone::text {

// Renders the first messages of the conversation, with the opening of an assistant's turn or without.
using RenderPart = std::function<std::vector<ChatPiece>(const io::Json& messages, bool open_turn)>;

// Sets `generated` from the end of each assistant turn's opening to the last control token of that turn (or its end,
// where there is none), and `message` in these stretches. Raises Error when the rendering of the whole does not begin
// with that of its parts, as with templates that drop the thoughts of earlier turns, and when the first message is a
// turn to learn (last_turn_only: and there is no later one): no part ends before it.
void find_assistant_turns(std::vector<ChatPiece>& pieces, const io::Json& conversation, bool last_turn_only,
                          const RenderPart& render);

}  // namespace hone::text
