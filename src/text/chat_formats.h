// The chat formats that Hone renders itself, byte for byte as the published templates of the model families do.
// A template is known by the SHA-256 of its text; tests compare with what jinja2 makes of the same templates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/chat_pieces.h"
#include "text/chat_request.h"

namespace hone::text {

struct ChatFormat {
  const char* name;                         // "qwen3": what options call it
  const char* models;                       // for people
  std::vector<std::string_view> arguments;  // variables of the template that it looks at
  std::string_view default_system;          // where the format has one
  void (*write)(const ChatFormat& format, const ChatRequest& request, std::string_view bos_token, ChatWriter& out);
  int variant = 0;
  bool prints_tools = true;  // otherwise the template leaves tools and tool calls out without a word
};

// All formats, and by name or by the text of a template; nullptr when there is none.
const std::vector<ChatFormat>& chat_formats();
const ChatFormat* chat_format_by_name(std::string_view name);
const ChatFormat* chat_format_of_template(std::string_view text);
const ChatFormat* chat_format_of_hash(std::string_view hash);
// The hash under which a template is known: of its text with line ends as \n and without one at the end, which jinja2
// drops as well.
std::string template_hash(std::string_view text);

// Pieces of a request. Raises Error, by name of the message, for what the format cannot say: a role that its template
// would leave out without a word, content that is no text, tool calls without a name. `bos_token`: of the tokenizer's
// configuration; empty when it names none.
std::vector<ChatPiece> write_chat(const ChatFormat& format, const ChatRequest& request, std::string_view bos_token);

// The families' writers.
void write_chatml(const ChatFormat&, const ChatRequest&, std::string_view bos_token, ChatWriter&);
void write_qwen2_5(const ChatFormat&, const ChatRequest&, std::string_view bos_token, ChatWriter&);
void write_qwen3(const ChatFormat&, const ChatRequest&, std::string_view bos_token, ChatWriter&);
void write_llama3(const ChatFormat&, const ChatRequest&, std::string_view bos_token, ChatWriter&);
void write_llama3_1(const ChatFormat&, const ChatRequest&, std::string_view bos_token, ChatWriter&);

// What differs between templates of one writer.
enum Qwen3Variant { kQwen3First, kQwen3, kQwen3Instruct2507 };
enum Llama31Variant { kLlama31, kLlama32 };

}  // namespace hone::text
