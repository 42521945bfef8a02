#include "text/chat_formats.h"

#include <array>
#include <utility>

#include "core/error.h"
#include "text/sha256.h"

namespace hone::text {

namespace {

constexpr std::string_view kQwen = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.";
constexpr std::string_view kHelpful = "You are a helpful assistant.";
constexpr std::string_view kQwenMath = "Please reason step by step, and put your final answer within \\boxed{}.";
constexpr std::string_view kSmol = "You are a helpful AI assistant named SmolLM, trained by Hugging Face";

// Hashes of published templates; some stand in the folders of several models.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kTemplates{{
    {"ba03a121d097859c7b5b9cd03af99aafe95275210d2876f642ad9929a150f122", "llama3"},
    {"93c0e9aa3629bbd77e68dbc0f5621f6e6b23aa8d74b932595cdb8d64684526d7", "llama3.1"},
    {"d82792f95932f1c9cef5c4bd992f171225e3bf8c7b609b4557c9e1ec96be819f", "llama3.2"},
    {"55b2f4a26ac9ee719330a61a0c39d9e538b0e9322212f048326318cff4f8674a", "qwen2.5"},
    {"4039eed0f28b7aaa337e70c76cfedba3271ee32505835a095a8c92e536b3c355", "qwen2.5-base"},
    {"2976f7de3b9489e3237dc5ad2734060f756d026da00f24464c59c2e3bb40ee37", "qwen2.5-math"},
    {"a55ee1b1660128b7098723e0abcd92caa0788061051c62d51cbe87d9cf1974d8", "qwen3"},
    {"87a2728cb8dc9fe424d624542f6060ec05a1d285ebbec578bb078900e33396b5", "qwen3-first"},
    {"64f85b198065d0fba2a81f37e10ed68161ce2c19a754c7100e67e0ca2ee9c326", "qwen3-instruct-2507"},
    {"872be49dbb638044ad01b60388f48d469ff2980e5f0dccdc22ec907db54d0788", "smollm2"},
    {"de9cde7d1b0ca0cc87459a6673e0d12fb89c070bdb24e4a30b6e4d187b226221", "smollm2"},
    {"793202280c0910ab26bc6eb57c8212c2417324c6d8c4efd0d10d59092ab3e3eb", "qwen2"},
    {"f0206845c9ebc3abb4735d44f286eb81ce99238ad2accc710c6fc60e6cb8ccc8", "qwen2"},
    {"153280e3ff55d19da1398bdb3914ee2a51b80429bfaedde11d7d216c39db80f3", "chatml"},
    {"fcf7a096fe99a48fd9ad2b250bf9237e96e8f48bffec1c7ea4d3f225176cd40e", "chatml"},
}};

}  // namespace

const std::vector<ChatFormat>& chat_formats() {
  static const std::vector<ChatFormat> formats{
      {"chatml", "ChatML without a system text of its own", {}, "", write_chatml, 0, false},
      {"smollm2", "SmolLM2 instruct", {}, kSmol, write_chatml, 0, false},
      {"qwen2", "Qwen2 instruct", {}, kHelpful, write_chatml, 0, false},
      {"qwen2.5", "Qwen2.5 instruct and coder", {}, kQwen, write_qwen2_5},
      {"qwen2.5-base", "Qwen2.5 base models", {}, kHelpful, write_qwen2_5},
      {"qwen2.5-math", "Qwen2.5-Math", {}, kQwenMath, write_qwen2_5},
      {"qwen3", "Qwen3 (thinking can be switched)", {"enable_thinking"}, "", write_qwen3, kQwen3},
      {"qwen3-first", "Qwen3 as first published", {"enable_thinking"}, "", write_qwen3, kQwen3First},
      {"qwen3-instruct-2507", "Qwen3-Instruct-2507 (no thinking)", {}, "", write_qwen3, kQwen3Instruct2507},
      {"llama3", "Llama 3 instruct", {}, "", write_llama3, 0, false},
      {"llama3.1",
       "Llama 3.1 and 3.3 instruct",
       {"custom_tools", "tools_in_user_message", "date_string", "builtin_tools"},
       "",
       write_llama3_1,
       kLlama31},
      {"llama3.2",
       "Llama 3.2 instruct",
       {"custom_tools", "tools_in_user_message", "date_string"},
       "",
       write_llama3_1,
       kLlama32},
  };
  return formats;
}

const ChatFormat* chat_format_by_name(std::string_view name) {
  for (const ChatFormat& format : chat_formats()) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

std::string template_hash(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') {
      plain += '\n';
      if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
    } else {
      plain += text[i];
    }
  }
  if (!plain.empty() && plain.back() == '\n') plain.pop_back();
  return sha256(plain);
}

const ChatFormat* chat_format_of_template(std::string_view text) { return chat_format_of_hash(template_hash(text)); }

const ChatFormat* chat_format_of_hash(std::string_view hash) {
  for (const auto& [known, name] : kTemplates) {
    if (known == hash) return chat_format_by_name(name);
  }
  return nullptr;
}

namespace {

bool is_empty(const io::Json* list) { return list == nullptr || (list->is_array() && list->as_array().empty()); }

void refuse_tools(const ChatFormat& format, const ChatRequest& request) {
  const std::string hint = fmt::format("the chat template of {} leaves tools and tool calls out", format.models);
  if (!request.options.tools.is_null() && !is_empty(&request.options.tools)) {
    throw Error(fmt::format("tools: the chat format {} prints none", format.name), hint);
  }
  for (const ChatMessage& message : request.messages) {
    if (is_empty(message.tool_calls)) continue;
    throw Error(fmt::format("{}.tool_calls: the chat format {} prints none", message.place, format.name), hint);
  }
}

}  // namespace

std::vector<ChatPiece> write_chat(const ChatFormat& format, const ChatRequest& request, std::string_view bos_token) {
  if (!format.prints_tools) refuse_tools(format, request);
  ChatWriter out(request.continued_message());
  format.write(format, request, bos_token, out);
  return out.take();
}

}  // namespace hone::text
