// A conversation as it comes from a row or a user, checked, and what is asked of a template with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/json.h"

namespace hone {

struct ChatOptions {
  bool add_generation_prompt = false;   // ends with the opening of an assistant's turn
  bool continue_final_message = false;  // ends with the content of the last message, its turn left open
  io::Json tools;                       // a list of functions in the usual JSON form, or null
  io::Json arguments;                   // further variables of the template, e.g. {"enable_thinking": false}, or null
  // The day that templates take for today (YYYY-MM-DD): fixed, because a run may not depend on the clock. The default
  // is the one that the Llama 3.2 template itself falls back to.
  std::string date = "2024-07-26";
  double seconds = 10;  // for one conversation, of templates that Python renders
};

namespace text {

struct ChatMessage {
  std::string role;
  const io::Json* content = nullptr;  // nullptr: absent or null
  std::optional<std::string> reasoning;
  const io::Json* tool_calls = nullptr;  // nullptr: absent or null
  std::string place;                     // "messages[2]", for errors

  const std::string& text() const;  // the content; Error when it is no text
};

struct ChatRequest {
  ChatRequest(const io::Json& conversation, ChatOptions chat_options);
  const io::Json* argument(std::string_view name) const;  // nullptr: not given

  std::vector<ChatMessage> messages;  // views of the conversation, which outlives this
  ChatOptions options;
  int32_t continued_message() const {
    return options.continue_final_message ? static_cast<int32_t>(messages.size()) - 1 : -1;
  }
};

// The conversation with null fields left out and reasoning under its usual name, `reasoning_content`, as Hugging Face
// hands it to templates. Raises Error when it is no list of objects with a role.
io::Json normalized_messages(const io::Json& conversation);

}  // namespace text
}  // namespace hone
