#include "text/chat_request.h"

#include <array>

#include "core/error.h"

namespace hone::text {

namespace {

constexpr std::array<std::string_view, 3> kReasoningFields{"reasoning_content", "thinking", "reasoning"};

void check_messages(const io::Json& conversation) {
  if (!conversation.is_array()) {
    throw Error(fmt::format("messages: expected a list of messages, found {}", conversation.describe()),
                R"(a conversation is [{"role": "user", "content": "..."}, ...])");
  }
  if (conversation.as_array().empty()) throw Error("messages: expected at least one message, found none");
  size_t index = 0;
  for (const io::Json& message : conversation.as_array()) {
    const std::string place = fmt::format("messages[{}]", index++);
    if (!message.is_object()) throw Error(fmt::format("{}: expected an object, found {}", place, message.describe()));
    const io::Json* role = message.find("role");
    if (role == nullptr) throw Error(place + ".role is missing");
    if (!role->is_string()) throw Error(fmt::format("{}.role: expected text, found {}", place, role->describe()));
  }
}

const io::Json* field(const io::Json& message, std::string_view key) {
  const io::Json* value = message.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const io::Json* reasoning_of(const io::Json& message) {
  for (const std::string_view name : kReasoningFields) {
    if (const io::Json* value = field(message, name)) return value;
  }
  return nullptr;
}

}  // namespace

const std::string& ChatMessage::text() const {
  if (content == nullptr)
    throw Error(place + ".content is missing or null", "write an empty text, \"\", for no content");
  if (!content->is_string()) {
    throw Error(fmt::format("{}.content: expected text, found {}", place, content->describe()),
                content->is_array() ? "parts (images, several texts) are not supported by this chat format" : "");
  }
  return content->as_string();
}

ChatRequest::ChatRequest(const io::Json& conversation, ChatOptions chat_options) : options(std::move(chat_options)) {
  check_messages(conversation);
  for (const io::Json& given : conversation.as_array()) {
    ChatMessage message;
    message.place = fmt::format("messages[{}]", messages.size());
    message.role = given.at("role").as_string();
    message.content = field(given, "content");
    message.tool_calls = field(given, "tool_calls");
    if (const io::Json* reasoning = reasoning_of(given)) {
      if (!reasoning->is_string()) {
        throw Error(fmt::format("{}.reasoning_content: expected text, found {}", message.place, reasoning->describe()));
      }
      message.reasoning = reasoning->as_string();
    }
    messages.push_back(std::move(message));
  }
  if (!options.tools.is_null() && !options.tools.is_array()) {
    throw Error(fmt::format("tools: expected a list, found {}", options.tools.describe()));
  }
  if (options.continue_final_message && options.add_generation_prompt) {
    throw Error("continue_final_message and add_generation_prompt exclude each other",
                "continue the last message, or open a new turn");
  }
  if (options.continue_final_message) messages.back().text();
}

const io::Json* ChatRequest::argument(std::string_view name) const { return options.arguments.find(name); }

io::Json normalized_messages(const io::Json& conversation) {
  check_messages(conversation);
  io::Json result = io::Json::array();
  for (const io::Json& given : conversation.as_array()) {
    io::Json message = io::Json::object();
    const io::Json* reasoning = reasoning_of(given);
    if (reasoning != nullptr) message.set("thinking", *reasoning);
    for (const io::Json::Member& member : given.as_object()) {
      if (!member.value.is_null()) message.set(member.key, member.value);
    }
    if (reasoning != nullptr) message.set("reasoning_content", *reasoning);
    result.push_back(std::move(message));
  }
  return result;
}

}  // namespace hone::text
