#include "prompts/chat_rows.h"

#include <algorithm>

#include "core/error.h"
#include "prompts/row_fields.h"
#include "workers/worker.h"

namespace hone {

namespace {

// Tools stand in a row as a list or as its JSON text.
io::Json tools_of(const io::Json& row, const std::string& key) {
  const io::Json* tools = row.find(key);
  if (tools == nullptr) return {};
  return tools->is_string() ? io::parse_json(tools->as_string(), key) : *tools;
}

SftExample example_of(ChatIds chat) {
  const auto first = std::find(chat.assistant.begin(), chat.assistant.end(), 1);
  if (first == chat.assistant.end()) throw Error("no turn of the assistant: there is nothing to learn");
  const auto last = std::find(chat.assistant.rbegin(), chat.assistant.rend(), 1).base();
  const auto begin = first - chat.assistant.begin(), end = last - chat.assistant.begin();
  if (begin == 0) throw Error("nothing stands before the first answer");
  SftExample example;
  example.prompt_ids.assign(chat.ids.begin(), chat.ids.begin() + begin);
  example.response_ids.assign(chat.ids.begin() + begin, chat.ids.begin() + end);
  if (std::find(first, last, 0) != last) example.loss_mask.assign(first, last);
  return example;
}

}  // namespace

ChatOptions chat_options(const ChatRendering& rendering, const io::Json& row) {
  ChatOptions options;
  options.tools = tools_of(row, rendering.tools_key);
  options.arguments = rendering.arguments;
  if (const io::Json* thinking = row.find(rendering.enable_thinking_key); thinking != nullptr && !thinking->is_null()) {
    options.arguments.set("enable_thinking", *thinking);
  }
  return options;
}

std::optional<ChatIds> ChatRowReader::prompt(const io::Json& row, const io::Json& messages, const std::string& key,
                                             const std::string& place) {
  ChatIds chat;
  const bool good = attempt(key, place, [&] {
    ChatOptions options = chat_options(rendering_, row);
    options.add_generation_prompt = true;
    chat = rendering_.chat->tokenize(messages, options);
  });
  return good ? std::optional(std::move(chat)) : std::nullopt;
}

std::optional<SftExample> ChatRowReader::example(const io::Json& row, const io::Json& messages, const std::string& key,
                                                 const std::string& place) {
  SftExample example;
  const bool good = attempt(key, place, [&] {
    const ChatOptions options = chat_options(rendering_, row);
    example = example_of(rendering_.chat->tokenize_for_training(messages, options, rendering_.mask_history));
  });
  return good ? std::optional(std::move(example)) : std::nullopt;
}

// False when the row is at fault.
bool ChatRowReader::attempt(const std::string& key, const std::string& place, const std::function<void()>& render) {
  if (rendering_.chat == nullptr || !rendering_.chat->exists()) {
    if (num_without_template_++ == 0) {
      first_place_ = place;
      first_key_ = key;
    }
    return false;
  }
  try {
    render();
    return true;
  } catch (const workers::WorkerError& error) {
    throw Error(fmt::format("{}: {}: {}", place, key, error.what()), error.hint());
  } catch (const Error& error) {
    add_field_fault(error, key, place, faults_);
    return false;
  }
}

void ChatRowReader::end_file() {
  if (num_without_template_ > 0) {
    faults_.add(
        fmt::format("{}: {} is a list of chat messages ({} rows), and the model has no chat template; name one in "
                    "custom_chat_template, on the command line in --chat-template (chatml, for example), or give each "
                    "prompt as one text",
                    first_place_, first_key_, num_without_template_));
  }
  num_without_template_ = 0;
}

io::Json user_message(const std::string& text) {
  return io::Json::array({io::Json::object({{"role", "user"}, {"content", text}})});
}

io::Json with_answer(const io::Json& messages, const io::Json& answer) {
  io::Json all = messages;
  if (answer.is_array()) {
    for (const io::Json& message : answer.as_array()) all.push_back(message);
  } else {
    all.push_back(io::Json::object({{"role", "assistant"}, {"content", answer}}));
  }
  return all;
}

}  // namespace hone
