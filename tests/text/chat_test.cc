// Chat formats against what jinja2 makes of the published templates. expected.json holds, for each format, the hashes
// of its templates and for each row of conversations.jsonl the mark of the rendered text (16 digits of its SHA-256) or
// "error"; tools/chat_goldens.py recomputes them with jinja2.
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/jsonl.h"
#include "text/chat_formats.h"
#include "text/sha256.h"

namespace hone {
namespace {

constexpr const char* kFolder = HONE_TEST_DATA "/chat/";

ChatOptions options_of(const io::Json& row) {
  ChatOptions options;
  if (const io::Json* value = row.find("add_generation_prompt")) options.add_generation_prompt = value->as_bool();
  if (const io::Json* value = row.find("continue_final_message")) options.continue_final_message = value->as_bool();
  if (const io::Json* value = row.find("tools")) options.tools = *value;
  if (const io::Json* value = row.find("arguments")) options.arguments = *value;
  return options;
}

struct Rendered {
  std::string mark, shown;
};

Rendered render(const text::ChatFormat& format, const io::Json& row) {
  try {
    const ChatOptions options = options_of(row);
    const text::ChatRequest request(row.at("messages"), options);
    const auto pieces = text::write_chat(format, request, "<|begin_of_text|>");
    const std::string rendered = text::text_of(pieces);
    return {text::sha256(rendered).substr(0, 16), rendered};
  } catch (const Error& error) {
    return {"error", error.what()};
  }
}

bool has_tools(const io::Json& row) {
  const io::Json* tools = row.find("tools");
  bool found = tools != nullptr && !tools->as_array().empty();
  for (const io::Json& message : row.at("messages").as_array()) {
    const io::Json* calls = message.find("tool_calls");
    found = found || (calls != nullptr && calls->is_array() && !calls->as_array().empty());
  }
  return found;
}

// Where Hone says no although the template prints something: it would leave tools or a message out, or print a Python
// value. Such rows name the formats, by the beginnings of their names.
bool refused_by_hone(const io::Json& row, const text::ChatFormat& format) {
  if (!format.prints_tools && has_tools(row)) return true;
  const io::Json* refused = row.find("refused_by_hone");
  if (refused == nullptr) return false;
  for (const io::Json& name : refused->as_array()) {
    if (std::string_view(format.name).starts_with(name.as_string())) return true;
  }
  return false;
}

TEST(ChatFormats, PrintWhatJinjaMakesOfThePublishedTemplates) {
  io::Faults faults;
  const auto rows = io::read_jsonl(std::string(kFolder) + "conversations.jsonl", faults);
  faults.raise_if_any("conversations");
  ASSERT_GE(rows.size(), 30u);
  const io::Json expected = io::read_json(std::string(kFolder) + "expected.json");
  EXPECT_EQ(expected.as_object().size(), text::chat_formats().size()) << "a format without stored results";
  int64_t compared = 0;
  for (const auto& [name, stored] : expected.as_object()) {
    const text::ChatFormat* format = text::chat_format_by_name(name);
    ASSERT_NE(format, nullptr) << name;
    for (const io::Json& hash : stored.at("templates").as_array()) {
      EXPECT_EQ(text::chat_format_of_hash(hash.as_string()), format) << name << " is not recognised by " << hash.dump();
    }
    const auto& marks = stored.at("results").as_array();
    ASSERT_EQ(marks.size(), rows.size()) << "run tools/chat_goldens.py write";
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto [mark, shown] = render(*format, rows[i].value);
      const bool refused = refused_by_hone(rows[i].value, *format);
      EXPECT_EQ(mark, refused ? "error" : marks[i].as_string())
          << name << ", " << rows[i].value.at("name").as_string() << ":\n"
          << shown;
      compared += !refused;
    }
  }
  EXPECT_GT(compared, 800);
}

TEST(ChatFormats, AreReadableInFull) {
  const auto show = [](const char* format, const char* messages, bool open) {
    const io::Json conversation = io::parse_json(messages, "test");
    ChatOptions options;
    options.add_generation_prompt = open;
    const text::ChatRequest request(conversation, options);
    return text::text_of(write_chat(*text::chat_format_by_name(format), request, "<|begin_of_text|>"));
  };
  const char* hi = R"([{"role": "user", "content": "Hi"}])";
  EXPECT_EQ(show("qwen2.5", hi, true),
            "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n"
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(show("qwen3", hi, true), "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(show("smollm2", hi, false),
            "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
            "<|im_start|>user\nHi<|im_end|>\n");
  EXPECT_EQ(show("llama3", hi, true),
            "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(show("llama3.2", hi, false),
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\n"
            "Today Date: 26 Jul 2024\n\n<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>");
}

TEST(ChatFormats, FaultsNameTheMessage) {
  const auto error_of = [](const char* format, const char* messages) -> std::string {
    const io::Json conversation = io::parse_json(messages, "test");
    try {
      const text::ChatRequest request(conversation, {});
      write_chat(*text::chat_format_by_name(format), request, "<s>");
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(error_of("qwen3", R"("hi")"), "messages: expected a list of messages, found text \"hi\"");
  EXPECT_EQ(error_of("qwen3", "[]"), "messages: expected at least one message, found none");
  EXPECT_EQ(error_of("qwen3", R"([{"role": "user", "content": "a"}, 3])"),
            "messages[1]: expected an object, found number 3");
  EXPECT_EQ(error_of("qwen3", R"([{"content": "a"}])"), "messages[0].role is missing");
  EXPECT_EQ(error_of("qwen3", R"([{"role": 7, "content": "a"}])"), "messages[0].role: expected text, found number 7");
  EXPECT_EQ(error_of("smollm2", R"([{"role": "user"}])"), "messages[0].content is missing or null");
  EXPECT_EQ(error_of("qwen2.5", R"([{"role": "user", "content": [{"type": "text", "text": "a"}]}])"),
            "messages[0].content: expected text, found a list of 1");
  EXPECT_EQ(error_of("qwen2.5", R"([{"role": "developer", "content": "a"}])"),
            "messages[0].role: expected system, user, assistant or tool, found \"developer\"");
  EXPECT_EQ(error_of("qwen3", R"([{"role": "assistant", "content": "", "tool_calls": [{"function": {}}]}])"),
            "messages[0].tool_calls[0].name: expected text, found none");
  EXPECT_EQ(error_of("qwen3", R"([{"role": "assistant", "content": "", "reasoning_content": 1}])"),
            "messages[0].reasoning_content: expected text, found number 1");
}

}  // namespace
}  // namespace hone
