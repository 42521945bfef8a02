// Conversations in rows of a data set: rendered to ids by the model's chat template. Which rows are conversations and
// what of them is fed is decided here; faults are listed by those who read the rows.
#pragma once

#include <string>

#include "io/json.h"
#include "records/prompt.h"
#include "text/chat_template.h"

namespace hone {

// How a run renders its conversations. Without a template rows with conversations are refused.
struct ChatRendering {
  const ChatTemplate* chat = nullptr;
  io::Json arguments;  // of the template, or null
  std::string tools_key = "tools";
  std::string enable_thinking_key = "enable_thinking";  // a row's own switch
  bool mask_history = false;                            // SFT: loss on the last answer alone
};

// The conversation with an open turn of the assistant. Raises Error without the row's place.
ChatIds render_prompt(const ChatRendering& rendering, const io::Json& row, const io::Json& messages);

// The conversation as an example for SFT: ids up to the first one with loss are the prompt; what follows the last one
// with loss is left out. Raises Error without the row's place, also when there is no answer to learn.
SftExample render_example(const ChatRendering& rendering, const io::Json& row, const io::Json& messages);

// The messages with an assistant's answer behind them.
io::Json with_answer(const io::Json& messages, const std::string& answer);

}  // namespace hone
