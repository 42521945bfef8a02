#include "text/chat_jinja.h"

#include <functional>
#include <map>

#include "core/error.h"
#include "text/chat_marks.h"
#include "text/python_text.h"
#include "workers/python.h"

namespace hone::text {

namespace {

constexpr int64_t kMaxCharacters = 4 << 20;  // of one rendered conversation
constexpr int64_t kMemoryBytes = int64_t{512} << 20;
constexpr std::string_view kContinueTag = "CONTINUE_FINAL_MESSAGE_TAG ";

void for_each_text(const io::Json& value, const std::function<void(const std::string&)>& see) {
  if (value.is_string()) {
    see(value.as_string());
  } else if (value.is_array()) {
    for (const io::Json& item : value.as_array()) for_each_text(item, see);
  } else if (value.is_object()) {
    for (const io::Json::Member& member : value.as_object()) {
      see(member.key);
      for_each_text(member.value, see);
    }
  }
}

void count_specials(std::string_view text, const SpecialTokens& specials, std::map<int32_t, int64_t>& counts) {
  for (const AddedTokenMatcher::Part& part : specials.split(text)) {
    if (part.id >= 0) ++counts[part.id];
  }
}

// {% generation %} with any of jinja's white-space signs.
bool find_generation_block(std::string_view source) {
  for (size_t at = source.find("{%"); at != std::string_view::npos; at = source.find("{%", at + 2)) {
    std::string_view rest = source.substr(at + 2);
    if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
    rest = python_lstrip(rest, " \t\n\r");
    if (rest.starts_with("generation")) return true;
  }
  return false;
}

// The last occurrence of the tag and all behind it goes.
void cut_at_tag(std::string& marked) {
  const std::string_view bare = kContinueTag.substr(0, kContinueTag.size() - 1);
  const size_t at = marked.rfind(bare);
  if (at == std::string::npos) {
    throw Error("the chat template does not print the last message as it is, so that it cannot be continued");
  }
  const bool keeps_space = std::string_view(marked).substr(at).starts_with(kContinueTag);
  marked.resize(at);
  if (!keeps_space) marked = std::string(python_rstrip(marked, " \t\n\r\f\v"));
}

io::Json with_tag(const io::Json& messages) {
  io::Json result = messages;
  io::Json* content = result.array_items().back().find("content");
  if (content == nullptr || !content->is_string()) {
    throw Error("the last message is to be continued: expected its content to be text");
  }
  *content = content->as_string() + std::string(kContinueTag);
  return result;
}

}  // namespace

JinjaTemplate::JinjaTemplate(std::string source, io::Json tokens, const SpecialTokens& specials)
    : source_(std::move(source)),
      marked_source_(mark_specials(source_, specials)),
      tokens_(std::move(tokens)),
      marked_tokens_(io::Json::object()),
      specials_(specials),
      has_generation_blocks_(find_generation_block(source_)) {
  if (holds_mark(source_)) throw Error("the chat template holds noncharacters (U+FDD0 to U+FDD3)", "remove them");
  for (const io::Json::Member& token : tokens_.as_object()) {
    marked_tokens_.set(token.key, mark_specials(token.value.as_string(), specials_));
  }
  workers::WorkerOptions options = workers::python_worker("the Python worker for chat templates");
  options.memory_bytes = kMemoryBytes;
  worker_ = std::make_unique<workers::Worker>(std::move(options));
}

JinjaTemplate::~JinjaTemplate() = default;

std::string JinjaTemplate::rendered_marked(const io::Json& messages, const ChatOptions& options) const {
  io::Json variables = tokens_;
  if (options.arguments.is_object()) {
    for (const io::Json::Member& argument : options.arguments.as_object()) variables.set(argument.key, argument.value);
  }
  variables.set("messages", options.continue_final_message ? with_tag(messages) : messages);
  variables.set("tools", options.tools);
  variables.set("documents", nullptr);
  variables.set("add_generation_prompt", options.add_generation_prompt);
  for_each_text(variables, [](const std::string& text) {
    if (holds_mark(text)) throw Error("the conversation holds noncharacters (U+FDD0 to U+FDD3)", "remove them");
  });
  io::Json question = io::Json::object();
  question.set("template", source_);
  question.set("marked_template", marked_source_);
  question.set("variables", std::move(variables));
  question.set("marked_variables", marked_tokens_);
  question.set("date", options.date);
  question.set("max_characters", kMaxCharacters);
  const io::Json reply = workers::ask_python(*worker_, "render_chat", std::move(question), options.seconds);
  std::string marked = reply.at("marked").as_string();
  const auto pieces = pieces_of_marked(marked, specials_);
  if (!pieces || text_of(*pieces) != reply.at("text").as_string()) {
    throw Error(
        "the chat template takes its control tokens apart or looks for them in the conversation, so that Hone cannot "
        "tell them from text",
        "render the prompts yourself, or use one of the built-in formats (hone render --list)");
  }
  if (options.continue_final_message) cut_at_tag(marked);
  return marked;
}

std::vector<ChatPiece> JinjaTemplate::render(const io::Json& conversation, const ChatOptions& options) const {
  const ChatRequest checked(conversation, options);
  const std::string marked = rendered_marked(normalized_messages(conversation), options);
  auto pieces = pieces_of_marked(marked, specials_);
  if (!pieces) {  // the cut of a continued message leaves its generation block open
    throw Error("a message inside a {% generation %} block cannot be continued", "use add_generation_prompt");
  }
  // What looks like a control token and bears no mark came from the conversation, or was put together by the template.
  std::map<int32_t, int64_t> printed, given;
  for (const ChatPiece& piece : *pieces) {
    if (!piece.scaffold) count_specials(piece.text, specials_, printed);
  }
  if (!printed.empty()) {
    const auto count = [&](const std::string& text) { count_specials(text, specials_, given); };
    for_each_text(conversation, count);
    for_each_text(options.tools, count);
    for_each_text(options.arguments, count);
  }
  for (const auto& [id, count] : printed) {
    if (count > given[id]) {
      throw Error(fmt::format("the chat template puts the control token {} together from parts or makes it of the "
                              "conversation, so that it cannot be told from text",
                              specials_.content(id)),
                  "use a template that writes its control tokens in full, or one of the built-in formats (hone render "
                  "--list)");
    }
  }
  return std::move(*pieces);
}

std::vector<std::string> JinjaTemplate::variables() const {
  const io::Json reply = workers::ask_python(*worker_, "chat_variables", io::Json::object({{"template", source_}}), 10);
  std::vector<std::string> names;
  for (const io::Json& name : reply.at("names").as_array()) names.push_back(name.as_string());
  return names;
}

}  // namespace hone::text
