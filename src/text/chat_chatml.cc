// ChatML in its plain form (SmolLM2, Qwen2) and as Qwen2.5 and Qwen3 extend it with tools and thinking.
#include <algorithm>
#include <array>

#include "core/error.h"
#include "text/chat_formats.h"
#include "text/chat_tools.h"
#include "text/python_text.h"

namespace hone::text {

namespace {

constexpr std::string_view kStart = "<|im_start|>", kEnd = "<|im_end|>", kOpenAnswer = "<|im_start|>assistant\n";
constexpr std::string_view kToolsIntro =
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function "
    "signatures within <tools></tools> XML tags:\n<tools>";
constexpr std::string_view kToolsOutro =
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
    "<tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": "
    "<args-json-object>}\n</tool_call>";

void close_turn(ChatWriter& out) {
  out.scaffold(kEnd);
  out.generated(false);
  out.scaffold("\n");
}

// A turn that is role and content alone.
void write_turn(ChatWriter& out, std::string_view role, std::string_view content) {
  out.scaffold(kStart);
  out.content(role);
  out.scaffold("\n");
  out.generated(role == "assistant");
  out.content(content);
  out.content_done();
  close_turn(out);
}

void write_default_system(ChatWriter& out, std::string_view text) {
  out.scaffold(kStart);
  out.scaffold("system\n");
  out.scaffold(text);
  close_turn(out);
}

// Qwen's templates leave messages of other roles out without a word.
void check_roles(const ChatFormat& format, const ChatRequest& request) {
  constexpr std::array<std::string_view, 4> known{"system", "user", "assistant", "tool"};
  for (const ChatMessage& message : request.messages) {
    if (std::find(known.begin(), known.end(), message.role) == known.end()) {
      throw Error(
          fmt::format("{}.role: expected system, user, assistant or tool, found \"{}\"", message.place, message.role),
          fmt::format("the chat template of {} leaves messages of other roles out", format.models));
    }
  }
}

void write_tool_list(ChatWriter& out, const io::Json& tools) {
  out.scaffold(kToolsIntro);
  for (const io::Json& tool : tools.as_array()) {
    out.scaffold("\n");
    out.content(tool.python_dump());
  }
  out.scaffold(kToolsOutro);
  close_turn(out);
}

// Results of neighbouring tool messages share one user turn.
void write_tool_result(ChatWriter& out, const ChatRequest& request, size_t i, std::string_view content) {
  const auto& messages = request.messages;
  if (i == 0 || messages[i - 1].role != "tool") {
    out.scaffold(kStart);
    out.scaffold("user");
  }
  out.scaffold("\n<tool_response>\n");
  out.content(content);
  out.content_done();
  out.scaffold("\n</tool_response>");
  if (i + 1 == messages.size() || messages[i + 1].role != "tool") close_turn(out);
}

enum class TextArguments { quoted, as_they_stand };  // of calls whose arguments are a text

void write_calls(ChatWriter& out, const std::vector<ToolCall>& calls, bool after_content, TextArguments texts) {
  for (const ToolCall& call : calls) {
    if (after_content) out.scaffold("\n");
    after_content = true;
    const bool as_it_stands = texts == TextArguments::as_they_stand && call.arguments->is_string();
    out.scaffold("<tool_call>\n{\"name\": \"");
    out.content(call.name);
    out.scaffold("\", \"arguments\": ");
    out.content(as_it_stands ? call.arguments->as_string() : call.arguments->python_dump());
    out.scaffold("}\n</tool_call>");
  }
}

bool has_tools(const ChatRequest& request) {
  return request.options.tools.is_array() && !request.options.tools.as_array().empty();
}

// The system turn of Qwen2.5 and Qwen3: the conversation's own text or the format's, then the tools. Says how many
// messages it has taken.
size_t write_system(const ChatFormat& format, const ChatRequest& request, ChatWriter& out) {
  const ChatMessage& first = request.messages.front();
  const bool own = first.role == "system";
  if (own) out.message(0);
  if (!has_tools(request)) {
    if (own) {
      write_turn(out, "system", first.text());
    } else if (!format.default_system.empty()) {
      write_default_system(out, format.default_system);
    }
    return own ? 1 : 0;
  }
  out.scaffold(kStart);
  out.scaffold("system\n");
  if (own) {
    out.content(first.text());
    if (request.messages.size() == 1) out.content_done();
  } else {
    out.scaffold(format.default_system);
  }
  if (own || !format.default_system.empty()) out.scaffold("\n\n");
  write_tool_list(out, request.options.tools);
  return own ? 1 : 0;
}

}  // namespace

void write_chatml(const ChatFormat& format, const ChatRequest& request, std::string_view, ChatWriter& out) {
  if (!format.default_system.empty() && request.messages.front().role != "system") {
    write_default_system(out, format.default_system);
  }
  for (const ChatMessage& message : request.messages) {
    out.message(static_cast<int32_t>(&message - request.messages.data()));
    write_turn(out, message.role, message.text());
  }
  out.message(-1);
  if (request.options.add_generation_prompt) out.scaffold(kOpenAnswer);
}

void write_qwen2_5(const ChatFormat& format, const ChatRequest& request, std::string_view, ChatWriter& out) {
  check_roles(format, request);
  for (size_t i = write_system(format, request, out); i < request.messages.size(); ++i) {
    const ChatMessage& message = request.messages[i];
    out.message(static_cast<int32_t>(i));
    if (message.role == "tool") {
      write_tool_result(out, request, i, message.text());
      continue;
    }
    const std::vector<ToolCall> calls = message.role == "assistant" ? tool_calls_of(message) : std::vector<ToolCall>{};
    if (calls.empty()) {
      write_turn(out, message.role, message.text());
      continue;
    }
    out.scaffold(kOpenAnswer);
    out.generated(true);
    const std::string content = message.content == nullptr ? "" : message.text();
    out.content(content);
    out.content_done();
    write_calls(out, calls, !content.empty(), TextArguments::quoted);
    close_turn(out);
  }
  out.message(-1);
  if (request.options.add_generation_prompt) out.scaffold(kOpenAnswer);
}

namespace {

struct Thought {
  std::string reasoning, content;
};

// What a model said, parted at its thinking tags.
Thought part(const ChatMessage& message, const std::string& content) {
  constexpr std::string_view begin = "<think>", end = "</think>";
  if (message.reasoning) return {*message.reasoning, content};
  const size_t first = content.find(end);
  if (first == std::string::npos) return {"", content};
  std::string_view reasoning = python_rstrip(std::string_view(content).substr(0, first), "\n");
  if (const size_t open = reasoning.rfind(begin); open != std::string_view::npos) {
    reasoning.remove_prefix(open + begin.size());
  }
  const std::string_view rest = std::string_view(content).substr(content.rfind(end) + end.size());
  return {std::string(python_lstrip(reasoning, "\n")), std::string(python_lstrip(rest, "\n"))};
}

// Thoughts before the last question of the user are dropped; results of tools are no question.
size_t last_query(const ChatRequest& request) {
  for (size_t i = request.messages.size(); i-- > 0;) {
    const ChatMessage& message = request.messages[i];
    if (message.role != "user" || message.content == nullptr || !message.content->is_string()) continue;
    const std::string_view text = message.content->as_string();
    if (!(text.starts_with("<tool_response>") && text.ends_with("</tool_response>"))) return i;
  }
  return request.messages.size() - 1;
}

void write_qwen3_assistant(const ChatFormat& format, const ChatRequest& request, size_t i, size_t query,
                           const std::string& content, ChatWriter& out) {
  const ChatMessage& message = request.messages[i];
  out.scaffold(kOpenAnswer);
  out.generated(true);
  Thought thought{"", content};
  bool thinks = false;
  if (format.variant != kQwen3Instruct2507) {
    thought = part(message, content);
    thinks = i > query && (i + 1 == request.messages.size() || !thought.reasoning.empty());
  }
  if (thinks) {
    out.scaffold("<think>\n");
    out.content(python_strip(thought.reasoning, "\n"));
    out.scaffold("\n</think>\n\n");
    out.content(python_lstrip(thought.content, "\n"));
  } else {
    out.content(thought.content);
  }
  out.content_done();
  write_calls(out, tool_calls_of(message), !thought.content.empty(), TextArguments::as_they_stand);
  close_turn(out);
}

}  // namespace

void write_qwen3(const ChatFormat& format, const ChatRequest& request, std::string_view, ChatWriter& out) {
  check_roles(format, request);
  const size_t query = last_query(request);
  for (size_t i = write_system(format, request, out); i < request.messages.size(); ++i) {
    const ChatMessage& message = request.messages[i];
    // the first template fails without content; the later ones take it for an empty text
    const bool may_lack = format.variant != kQwen3First && message.content == nullptr;
    const std::string content = may_lack ? "" : message.text();
    out.message(static_cast<int32_t>(i));
    if (message.role == "tool") {
      write_tool_result(out, request, i, content);
    } else if (message.role == "assistant") {
      write_qwen3_assistant(format, request, i, query, content, out);
    } else {
      write_turn(out, message.role, content);
    }
  }
  out.message(-1);
  if (!request.options.add_generation_prompt) return;
  out.scaffold(kOpenAnswer);
  const io::Json* thinking = request.argument("enable_thinking");
  if (format.variant != kQwen3Instruct2507 && thinking != nullptr && *thinking == io::Json(false)) {
    out.scaffold("<think>\n\n</think>\n\n");
  }
}

}  // namespace hone::text
