#include "prompts/chat_rows.h"

#include <algorithm>

#include "core/error.h"

namespace hone {

namespace {

// Tools stand in a row as a list or as its JSON text.
io::Json tools_of(const io::Json& row, const std::string& key) {
  const io::Json* tools = row.find(key);
  if (tools == nullptr) return {};
  return tools->is_string() ? io::parse_json(tools->as_string(), key) : *tools;
}

ChatOptions options_of(const ChatRendering& rendering, const io::Json& row) {
  ChatOptions options;
  options.tools = tools_of(row, rendering.tools_key);
  options.arguments = rendering.arguments;
  if (const io::Json* thinking = row.find(rendering.enable_thinking_key); thinking != nullptr && !thinking->is_null()) {
    options.arguments.set("enable_thinking", *thinking);
  }
  return options;
}

}  // namespace

ChatIds render_prompt(const ChatRendering& rendering, const io::Json& row, const io::Json& messages) {
  HONE_CHECK(rendering.chat != nullptr, "no chat template");
  ChatOptions options = options_of(rendering, row);
  options.add_generation_prompt = true;
  return rendering.chat->tokenize(messages, options);
}

SftExample render_example(const ChatRendering& rendering, const io::Json& row, const io::Json& messages) {
  HONE_CHECK(rendering.chat != nullptr, "no chat template");
  ChatIds chat = rendering.chat->tokenize_for_training(messages, options_of(rendering, row));
  if (rendering.mask_history) keep_last_turn(chat);
  const auto first = std::find(chat.assistant.begin(), chat.assistant.end(), 1);
  if (first == chat.assistant.end()) throw Error("no turn of the assistant: there is nothing to learn");
  const auto last = std::find(chat.assistant.rbegin(), chat.assistant.rend(), 1).base();
  const auto begin = first - chat.assistant.begin(), end = last - chat.assistant.begin();
  SftExample example;
  example.prompt_ids.assign(chat.ids.begin(), chat.ids.begin() + begin);
  example.response_ids.assign(chat.ids.begin() + begin, chat.ids.begin() + end);
  if (std::find(first, last, 0) != last) example.loss_mask.assign(first, last);
  return example;
}

io::Json with_answer(const io::Json& messages, const std::string& answer) {
  io::Json all = messages;
  all.push_back(io::Json::object({{"role", "assistant"}, {"content", answer}}));
  return all;
}

}  // namespace hone
