#include "text/chat_tools.h"

#include "core/error.h"

namespace hone::text {

std::vector<ToolCall> tool_calls_of(const ChatMessage& message, CallForm form) {
  std::vector<ToolCall> calls;
  if (message.tool_calls == nullptr) return calls;
  if (!message.tool_calls->is_array()) {
    throw Error(fmt::format("{}.tool_calls: expected a list, found {}", message.place, message.tool_calls->describe()));
  }
  for (const io::Json& given : message.tool_calls->as_array()) {
    const std::string place = fmt::format("{}.tool_calls[{}]", message.place, calls.size());
    const io::Json* call = &given;
    if (const io::Json* function = given.find("function"); function != nullptr && function->is_object()) {
      call = function;
    } else if (form == CallForm::wrapped) {
      throw Error(place + ".function is missing", R"(a call is {"function": {"name": ..., "arguments": ...}})");
    }
    const io::Json* name = call->find("name");
    if (name == nullptr || !name->is_string()) {
      throw Error(fmt::format("{}.name: expected text, found {}", place, name == nullptr ? "none" : name->describe()));
    }
    const io::Json* arguments = call->find("arguments");
    if (arguments == nullptr) throw Error(place + ".arguments is missing", "write {} for no arguments");
    calls.push_back({name->as_string(), arguments});
  }
  return calls;
}

}  // namespace hone::text
