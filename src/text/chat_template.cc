#include "text/chat_template.h"

#include <algorithm>

#include "core/error.h"
#include "io/file.h"
#include "text/chat_formats.h"
#include "text/chat_jinja.h"
#include "text/chat_spans.h"
#include "text/tokenizer_config.h"

namespace hone {

using text::ChatFormat;
using text::ChatPiece;

struct ChatTemplate::Source {
  std::string name;   // "default", "tool_use"
  std::string where;  // for people
  const ChatFormat* format = nullptr;
  std::unique_ptr<text::JinjaTemplate> jinja;  // when it is no built-in format
};

namespace {

std::string format_names() {
  std::string names;
  for (const ChatFormat& format : text::chat_formats()) names += std::string(names.empty() ? "" : ", ") + format.name;
  return names;
}

void check_date(const std::string& date) {
  const auto digits = [&](size_t begin, size_t size) {
    return std::all_of(date.begin() + static_cast<int64_t>(begin), date.begin() + static_cast<int64_t>(begin + size),
                       [](char c) { return c >= '0' && c <= '9'; });
  };
  const bool shape =
      date.size() == 10 && date[4] == '-' && date[7] == '-' && digits(0, 4) && digits(5, 2) && digits(8, 2);
  const int month = shape ? std::stoi(date.substr(5, 2)) : 0, day = shape ? std::stoi(date.substr(8)) : 0;
  if (month < 1 || month > 12 || day < 1 || day > 31) {
    throw Error(fmt::format("date: expected YYYY-MM-DD, found \"{}\"", date));
  }
}

}  // namespace

ChatTemplate::ChatTemplate(const std::string& folder, const std::string& custom, const Tokenizer& tokenizer)
    : tokenizer_(tokenizer), specials_(tokenizer), folder_(folder) {
  const text::TokenizerConfig config(folder);
  tokens_ = io::Json::object();
  for (const text::SpecialToken& token : config.special_tokens()) tokens_.set(token.key, token.text);
  if (custom.empty()) {
    for (text::ChatTemplateText& own : config.chat_templates()) {
      add_source(std::move(own.name), std::move(own.text), own.place);
    }
  } else if (const ChatFormat* format = text::chat_format_by_name(custom)) {
    sources_.push_back(std::make_unique<Source>(Source{"default", "the format you named", format, nullptr}));
  } else if (custom.find_first_of("{\n") != std::string::npos) {
    add_source("default", custom, "the template you gave");
  } else if (io::exists(custom)) {
    add_source("default", io::read_file(custom), custom);
  } else {
    throw Error(fmt::format("chat template: expected a built-in format, a template or a file, found \"{}\"", custom),
                "built-in formats: " + format_names());
  }
}

ChatTemplate::~ChatTemplate() = default;

void ChatTemplate::add_source(std::string name, std::string text, const std::string& where) {
  auto source = std::make_unique<Source>();
  source->name = std::move(name);
  source->where = where;
  source->format = text::chat_format_of_template(text);
  if (source->format == nullptr) {
    source->jinja = std::make_unique<text::JinjaTemplate>(std::move(text), tokens_, specials_);
  }
  sources_.push_back(std::move(source));
}

bool ChatTemplate::exists() const { return !sources_.empty(); }

std::string ChatTemplate::describe() const {
  if (!exists()) return "none";
  const Source& source = source_for({});
  return source.format != nullptr ? fmt::format("{}, built in ({})", source.format->name, source.where)
                                  : fmt::format("{}, by jinja2", source.where);
}

// "tool_use" for conversations with tools where there is one, else "default", else the only one.
const ChatTemplate::Source& ChatTemplate::source_for(const ChatOptions& options) const {
  if (sources_.empty()) {
    throw Error(
        fmt::format("{} has no chat template (no chat_template.jinja, no chat_template in "
                    "tokenizer_config.json): it looks like a base model",
                    folder_),
        "give prompts as text, or name a format for its conversations: custom_chat_template=chatml in a recipe, "
        "--chat-template chatml on the command line (built in: " +
            format_names() + ")");
  }
  const auto named = [&](std::string_view name) -> const Source* {
    for (const auto& source : sources_) {
      if (source->name == name) return source.get();
    }
    return nullptr;
  };
  if (!options.tools.is_null()) {
    if (const Source* source = named("tool_use")) return *source;
  }
  if (const Source* source = named("default")) return *source;
  if (sources_.size() == 1) return *sources_.front();
  throw Error(
      fmt::format("{}: none of its {} chat templates is called default", sources_.front()->where, sources_.size()));
}

std::vector<ChatPiece> ChatTemplate::render(const io::Json& conversation, const ChatOptions& options) const {
  check_date(options.date);
  const Source& source = source_for(options);
  if (source.jinja) return source.jinja->render(conversation, options);
  const text::ChatRequest request(conversation, options);
  const io::Json* bos_token = tokens_.find("bos_token");
  return write_chat(*source.format, request, bos_token == nullptr ? "" : bos_token->as_string());
}

ChatIds ChatTemplate::tokenize(const io::Json& conversation, const ChatOptions& options) const {
  return text::encode_chat(render(conversation, options), tokenizer_, specials_);
}

ChatIds ChatTemplate::tokenize_for_training(const io::Json& conversation, const ChatOptions& options,
                                            bool last_turn_only) const {
  std::vector<ChatPiece> pieces = render(conversation, options);
  const Source& source = source_for(options);
  if (source.jinja && !source.jinja->has_generation_blocks()) {
    text::find_assistant_turns(pieces, conversation, last_turn_only, [&](const io::Json& part, bool open) {
      ChatOptions shorter = options;
      shorter.add_generation_prompt = open;
      shorter.continue_final_message = false;
      return render(part, shorter);
    });
  }
  ChatIds chat = text::encode_chat(pieces, tokenizer_, specials_);
  if (last_turn_only) keep_last_turn(chat);
  return chat;
}

std::vector<std::string> ChatTemplate::unused_arguments(const io::Json& arguments) const {
  std::vector<std::string> lines;
  if (!arguments.is_object() || arguments.as_object().empty() || !exists()) return lines;
  const Source& source = source_for({});
  std::vector<std::string> known;
  if (source.jinja) {
    known = source.jinja->variables();
  } else {
    known.assign(source.format->arguments.begin(), source.format->arguments.end());
  }
  for (const io::Json::Member& argument : arguments.as_object()) {
    if (std::find(known.begin(), known.end(), argument.key) != known.end()) continue;
    std::string list;
    for (const std::string& name : known) {
      if (!source.jinja) list += (list.empty() ? "" : ", ") + name;
    }
    lines.push_back(fmt::format("{}: the chat template does not look at it{}", argument.key,
                                list.empty() ? "" : " (it looks at " + list + ")"));
  }
  return lines;
}

}  // namespace hone
