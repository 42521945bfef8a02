// Conversations in rows of a data set: rendered to ids by the model's chat template. Which rows are conversations is
// decided by those who read the rows; what of them is fed, and how their faults are told, here.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "io/faults.h"
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

// What a row is rendered with: its tools (a list, or the JSON text of one), and its own enable_thinking before that of
// the run's arguments. Raises Error without the row's place.
ChatOptions chat_options(const ChatRendering& rendering, const io::Json& row);

// Renders conversations of rows. What is wrong with one becomes a fault "file:line: key: what (hint)" and nothing is
// returned. A missing template is one fault a file, and a worker that cannot run raises Error: neither is said of every
// row.
class ChatRowReader {
 public:
  // Both outlive the reader.
  ChatRowReader(const ChatRendering& rendering, io::Faults& faults) : rendering_(rendering), faults_(faults) {}

  // `messages` with an open turn of the assistant. `key` names the field of the row that holds them.
  std::optional<ChatIds> prompt(const io::Json& row, const io::Json& messages, const std::string& key,
                                const std::string& place);
  // `messages` as an example for SFT: ids up to the first one with loss are the prompt; what follows the last one with
  // loss is left out. A conversation without an answer to learn is at fault.
  std::optional<SftExample> example(const io::Json& row, const io::Json& messages, const std::string& key,
                                    const std::string& place);
  // Call it after the last row of each file.
  void end_file();

 private:
  bool attempt(const std::string& key, const std::string& place, const std::function<void()>& render);

  const ChatRendering& rendering_;
  io::Faults& faults_;
  // Rows of this file that lack a template, and the first of them.
  int64_t num_without_template_ = 0;
  std::string first_place_, first_key_;
};

// A conversation of one message.
io::Json user_message(const std::string& text);
// The messages with an answer behind them: an assistant's text, or messages.
io::Json with_answer(const io::Json& messages, const io::Json& answer);

}  // namespace hone
