// hone render: conversations to ids, with the role and the loss mask of each.
#include <cstdio>
#include <ctime>
#include <iostream>
#include <iterator>

#include "cli/chat_arguments.h"
#include "cli/commands.h"
#include "core/error.h"
#include "io/file.h"
#include "io/jsonl.h"
#include "prompts/chat_rows.h"
#include "prompts/row_file.h"
#include "text/chat_formats.h"
#include "text/chat_template.h"

namespace hone::cli {

namespace {

struct Conversation {
  std::string place;
  io::Json row;
  std::string key = "messages";  // of the row: its messages
  const io::Json& messages() const { return row.at(key); }
};

void list_formats() {
  for (const text::ChatFormat& format : text::chat_formats()) {
    std::string arguments;
    for (const std::string_view name : format.arguments) arguments += fmt::format(" {}", name);
    fmt::print("{:<20} {}{}{}\n", format.name, format.models, arguments.empty() ? "" : "; arguments:", arguments);
  }
}

void add_conversation(io::JsonRow&& row, const std::string& file, std::vector<Conversation>& all, io::Faults& faults) {
  Conversation added{fmt::format("{}:{}", file, row.line), std::move(row.value)};
  if (added.row.find(added.key) == nullptr) added.key = "prompt";
  if (added.row.find(added.key) == nullptr) {
    faults.add(added.place + ": neither messages nor prompt is there");
  } else {
    all.push_back(std::move(added));
  }
}

std::vector<Conversation> read_conversations(const RenderArgs& args) {
  if (!args.user.empty() || !args.system.empty()) {
    io::Json messages = io::Json::array();
    if (!args.system.empty()) messages.push_back(io::Json::object({{"role", "system"}, {"content", args.system}}));
    if (!args.user.empty()) messages.push_back(io::Json::object({{"role", "user"}, {"content", args.user}}));
    return {Conversation{"command line", io::Json::object({{"messages", std::move(messages)}})}};
  }
  std::vector<Conversation> all;
  io::Faults faults;
  for (const std::string& file : args.files) {
    read_rows(file, faults, [&](io::JsonRow&& row) { add_conversation(std::move(row), file, all, faults); });
  }
  if (args.files.empty()) {
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    const std::string name = "standard input";
    io::parse_jsonl(text, name, faults,
                    [&](io::JsonRow&& row) { add_conversation(std::move(row), name, all, faults); });
  }
  faults.raise_if_any("the rows cannot be read");
  return all;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return fmt::format("{:04}-{:02}-{:02}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday);
}

std::string role_of(const io::Json& messages, int32_t message) {
  if (message < 0) return "";
  return messages.as_array()[static_cast<size_t>(message)].at("role").as_string();
}

bool ends_with_answer(const io::Json& messages) {
  if (!messages.is_array() || messages.as_array().empty()) return false;
  const io::Json* role = messages.as_array().back().find("role");
  return role != nullptr && *role == io::Json("assistant");
}

// The ids that a run would feed, but for what only the command line asks.
ChatIds ids_of(const Conversation& conversation, const RenderArgs& args, const ChatRendering& rendering,
               const io::Json& tools) {
  try {
    ChatOptions options = chat_options(rendering, conversation.row);
    if (options.tools.is_null()) options.tools = tools;
    if (!args.date.empty()) options.date = args.date == "today" ? today() : args.date;
    options.continue_final_message = args.continue_final_message;
    options.add_generation_prompt =
        args.generation_prompt ||
        (!args.no_generation_prompt && !args.continue_final_message && !ends_with_answer(conversation.messages()));
    return rendering.chat->tokenize_for_training(conversation.messages(), options, args.loss == "last");
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", conversation.place, error.what()), error.hint());
  }
}

void print_json(const Conversation& conversation, const ChatIds& chat) {
  io::Json::Array roles;
  for (const int32_t message : chat.messages) roles.emplace_back(role_of(conversation.messages(), message));
  io::Json line = io::Json::object();
  line.set("place", conversation.place);
  line.set("text", chat.text);
  line.set("ids", io::Json::Array(chat.ids.begin(), chat.ids.end()));
  line.set("roles", std::move(roles));
  line.set("loss_mask", [&] {
    io::Json::Array mask;
    for (const uint8_t bit : chat.assistant) mask.emplace_back(int{bit});
    return mask;
  }());
  fmt::print("{}\n", line.dump());
}

void print_table(const Conversation& conversation, const ChatIds& chat, const Tokenizer& tokenizer) {
  int64_t with_loss = 0;
  for (const uint8_t bit : chat.assistant) with_loss += bit;
  fmt::print("{}: {} ids, {} with loss\n", conversation.place, chat.ids.size(), with_loss);
  fmt::print("{:>8}  {:<10} {:<4} {}\n", "id", "role", "loss", "token");
  for (size_t i = 0; i < chat.ids.size(); ++i) {
    const std::string token = tokenizer.decode(std::span(chat.ids).subspan(i, 1), false);
    const std::string quoted = io::Json(token).dump();
    fmt::print("{:>8}  {:<10} {:<4} {}{}\n", chat.ids[i], role_of(conversation.messages(), chat.messages[i]),
               chat.assistant[i] != 0 ? "yes" : "", tokenizer.is_special(chat.ids[i]) ? token : quoted,
               tokenizer.is_special(chat.ids[i]) ? "  (control)" : "");
  }
}

}  // namespace

int run_render(const RenderArgs& args) {
  if (args.list) {
    list_formats();
    return 0;
  }
  if (args.tokenizer.empty()) throw Error("--tokenizer is missing", "name the folder of the model");
  if (args.loss != "all" && args.loss != "last") {
    throw Error(fmt::format("--loss: expected all or last, found \"{}\"", args.loss));
  }
  const Tokenizer tokenizer = Tokenizer::load(args.tokenizer);
  const ChatTemplate chat(args.tokenizer, args.chat_template, tokenizer);
  ChatRendering rendering;
  rendering.chat = &chat;
  rendering.arguments = template_arguments(args.arguments, chat);
  const io::Json tools = args.tools.empty() ? io::Json() : io::read_json(args.tools);
  if (!args.json && !args.text) fmt::print("template: {}\n", chat.describe());
  int64_t row = 0;
  for (const Conversation& conversation : read_conversations(args)) {
    if (args.max_rows >= 0 && row++ >= args.max_rows) break;
    const ChatIds ids = ids_of(conversation, args, rendering, tools);
    if (args.text) {
      fmt::print("{}\n", ids.text);
    } else if (args.json) {
      print_json(conversation, ids);
    } else {
      print_table(conversation, ids, tokenizer);
    }
  }
  return 0;
}

}  // namespace hone::cli
