// The formats of Llama 3 and of Llama 3.1 to 3.3 with their date and tools. Content is trimmed everywhere.
#include <algorithm>

#include "core/error.h"
#include "text/chat_formats.h"
#include "text/chat_tools.h"
#include "text/python_text.h"

namespace hone::text {

namespace {

constexpr std::string_view kCallForm =
    "Respond in the format {\"name\": function name, \"parameters\": dictionary of argument name and its value}.Do not "
    "use variables.\n\n";

void write_bos(std::string_view bos_token, ChatWriter& out) {
  if (bos_token.empty()) {
    throw Error("the chat template prints bos_token, and tokenizer_config.json names none",
                "take tokenizer_config.json from the model's own folder");
  }
  out.scaffold(bos_token);
}

void open_turn(std::string_view role, ChatWriter& out) {
  out.scaffold("<|start_header_id|>");
  out.content(role);
  out.scaffold("<|end_header_id|>\n\n");
}

void close_turn(std::string_view end, ChatWriter& out) {
  out.scaffold(end);
  out.generated(false);
}

void write_turn(const ChatMessage& message, ChatWriter& out) {
  open_turn(message.role, out);
  out.generated(message.role == "assistant");
  out.content(python_strip(message.text()));
  out.content_done();
  close_turn("<|eot_id|>", out);
}

// The arguments of the Llama 3.1 and 3.2 templates.
struct Settings {
  explicit Settings(const ChatFormat& format, const ChatRequest& request) {
    if (request.options.tools.is_array()) tools = &request.options.tools;
    if (const io::Json* custom = request.argument("custom_tools")) tools = custom->is_null() ? nullptr : custom;
    if (tools != nullptr && !tools->is_array()) {
      throw Error(fmt::format("custom_tools: expected a list, found {}", tools->describe()));
    }
    if (const io::Json* given = request.argument("tools_in_user_message")) {
      if (!given->is_bool()) {
        throw Error(fmt::format("tools_in_user_message: expected true or false, found {}", given->describe()));
      }
      in_user_message = given->as_bool();
    }
    if (const io::Json* given = request.argument("date_string")) {
      if (!given->is_string()) throw Error(fmt::format("date_string: expected text, found {}", given->describe()));
      date = given->as_string();
    } else {
      date = format.variant == kLlama31 ? "26 Jul 2024" : day_month_year(request.options.date);
    }
    if (format.variant == kLlama31) builtin = request.argument("builtin_tools");
    if (builtin == nullptr) return;
    const auto is_text = [](const io::Json& item) { return item.is_string(); };
    if (!builtin->is_array() || !std::all_of(builtin->as_array().begin(), builtin->as_array().end(), is_text)) {
      throw Error(fmt::format("builtin_tools: expected a list of texts, found {}", builtin->describe()));
    }
  }

  // 2024-07-26 -> 26 Jul 2024
  static std::string day_month_year(const std::string& date) {
    constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    HONE_CHECK(date.size() == 10, "date {}", date);
    const auto month = static_cast<size_t>((date[5] - '0') * 10 + (date[6] - '0'));
    HONE_CHECK(month >= 1 && month <= 12, "date {}", date);
    return fmt::format("{} {} {}", date.substr(8), months.substr(3 * (month - 1), 3), date.substr(0, 4));
  }
  bool is_builtin(const std::string& name) const {
    if (builtin == nullptr) return false;
    return std::any_of(builtin->as_array().begin(), builtin->as_array().end(),
                       [&](const io::Json& item) { return item.as_string() == name; });
  }

  const io::Json* tools = nullptr;
  const io::Json* builtin = nullptr;
  bool in_user_message = true;
  std::string date;
};

void write_tool_list(const io::Json& tools, ChatWriter& out) {
  for (const io::Json& tool : tools.as_array()) {
    out.content(tool.python_dump(4));
    out.scaffold("\n\n");
  }
}

void write_system(const Settings& settings, std::string_view system, bool continued, ChatWriter& out) {
  out.scaffold("<|start_header_id|>system<|end_header_id|>\n\n");
  if (settings.builtin != nullptr || settings.tools != nullptr) out.scaffold("Environment: ipython\n");
  if (settings.builtin != nullptr) {
    out.scaffold("Tools: ");
    bool first = true;
    for (const io::Json& tool : settings.builtin->as_array()) {
      if (tool.as_string() == "code_interpreter") continue;
      if (!first) out.scaffold(", ");
      first = false;
      out.content(tool.as_string());
    }
    out.scaffold("\n\n");
  }
  out.scaffold("Cutting Knowledge Date: December 2023\nToday Date: ");
  out.content(settings.date);
  out.scaffold("\n\n");
  if (settings.tools != nullptr && !settings.in_user_message) {
    out.scaffold(
        "You have access to the following functions. To call a function, please respond with JSON for a function "
        "call.");
    out.scaffold(kCallForm);
    write_tool_list(*settings.tools, out);
  }
  out.content(system);
  if (continued) out.content_done();
  out.scaffold("<|eot_id|>");
}

void write_user_with_tools(const Settings& settings, const ChatMessage& message, ChatWriter& out) {
  out.scaffold(
      "<|start_header_id|>user<|end_header_id|>\n\nGiven the following functions, please respond with a JSON for a "
      "function call with its proper arguments that best answers the given prompt.\n\n");
  out.scaffold(kCallForm);
  write_tool_list(*settings.tools, out);
  out.content(python_strip(message.text()));
  out.content_done();
  out.scaffold("<|eot_id|>");
}

void write_call(const Settings& settings, const ChatMessage& message, ChatWriter& out) {
  const std::vector<ToolCall> calls = tool_calls_of(message, CallForm::wrapped);
  if (calls.size() != 1) {
    throw Error(fmt::format("{}.tool_calls: This model only supports single tool-calls at once! Found {}",
                            message.place, calls.size()));
  }
  const ToolCall& call = calls.front();
  out.scaffold("<|start_header_id|>assistant<|end_header_id|>\n\n");
  out.generated(true);
  if (settings.is_builtin(call.name)) {
    if (!call.arguments->is_object()) {
      throw Error(fmt::format("{}: arguments of a built-in tool: expected an object, found {}", message.place,
                              call.arguments->describe()));
    }
    out.scaffold("<|python_tag|>");
    out.content(call.name);
    out.scaffold(".call(");
    bool first = true;
    for (const io::Json::Member& argument : call.arguments->as_object()) {
      if (!first) out.scaffold(", ");
      first = false;
      if (!argument.value.is_string()) {
        throw Error(fmt::format("{}: argument {} of a built-in tool: expected text, found {}", message.place,
                                argument.key, argument.value.describe()));
      }
      out.content(argument.key);
      out.scaffold("=\"");
      out.content(argument.value.as_string());
      out.scaffold("\"");
    }
    out.scaffold(")");
  } else {
    out.scaffold("{\"name\": \"");
    out.content(call.name);
    out.scaffold("\", \"parameters\": ");
    out.content(call.arguments->python_dump());
    out.scaffold("}");
  }
  close_turn(settings.builtin != nullptr ? "<|eom_id|>" : "<|eot_id|>", out);
}

void write_tool_result(const ChatMessage& message, ChatWriter& out) {
  open_turn("ipython", out);
  if (message.content == nullptr) message.text();  // raises
  const io::Json& content = *message.content;
  if (!content.is_string() && !content.is_array() && !content.is_object()) {
    throw Error(
        fmt::format("{}.content: expected text, a list or an object, found {}", message.place, content.describe()));
  }
  out.content(content.python_dump());
  out.content_done();
  out.scaffold("<|eot_id|>");
}

}  // namespace

void write_llama3(const ChatFormat&, const ChatRequest& request, std::string_view bos_token, ChatWriter& out) {
  write_bos(bos_token, out);
  for (const ChatMessage& message : request.messages) {
    out.message(static_cast<int32_t>(&message - request.messages.data()));
    write_turn(message, out);
  }
  out.message(-1);
  if (request.options.add_generation_prompt) out.scaffold("<|start_header_id|>assistant<|end_header_id|>\n\n");
}

void write_llama3_1(const ChatFormat& format, const ChatRequest& request, std::string_view bos_token, ChatWriter& out) {
  const Settings settings(format, request);
  const auto& messages = request.messages;
  write_bos(bos_token, out);
  size_t next = 0;
  std::string_view system;
  if (messages.front().role == "system") {
    out.message(0);
    system = python_strip(messages.front().text());
    next = 1;
  }
  write_system(settings, system, next == messages.size(), out);
  if (settings.tools != nullptr && settings.in_user_message) {
    if (next == messages.size()) {
      throw Error("messages: Cannot put tools in the first user message when there's no first user message!");
    }
    out.message(static_cast<int32_t>(next));
    write_user_with_tools(settings, messages[next++], out);
  }
  for (; next < messages.size(); ++next) {
    const ChatMessage& message = messages[next];
    out.message(static_cast<int32_t>(next));
    if (message.tool_calls != nullptr) {
      write_call(settings, message, out);
    } else if (message.role == "tool" || message.role == "ipython") {
      write_tool_result(message, out);
    } else {
      write_turn(message, out);
    }
  }
  out.message(-1);
  if (request.options.add_generation_prompt) out.scaffold("<|start_header_id|>assistant<|end_header_id|>\n\n");
}

}  // namespace hone::text
