// Tool calls and tool lists as the built-in formats read them.
#pragma once

#include <string>
#include <vector>

#include "text/chat_request.h"

namespace hone::text {

struct ToolCall {
  std::string name;
  const io::Json* arguments = nullptr;
};

// The calls of a message: {"function": {"name", "arguments"}}, or where the template takes it also {"name",
// "arguments"} itself. Raises Error naming what is missing.
enum class CallForm { wrapped, wrapped_or_bare };
std::vector<ToolCall> tool_calls_of(const ChatMessage& message, CallForm form = CallForm::wrapped_or_bare);

}  // namespace hone::text
