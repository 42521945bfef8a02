// ChatTemplate: how a model's conversations become ids. The template is that of the model's folder
// (chat_template.jinja, or chat_template of tokenizer_config.json), or another one that the user names. Templates of
// the model families are rendered here; any other by jinja2 in a Python worker. Any number of threads may use one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/chat_encoder.h"
#include "text/chat_request.h"

namespace hone {

class ChatTemplate {
 public:
  // `custom`: empty for the model's own; otherwise the name of a built-in format ("chatml", "qwen3", ...), a template
  // as text, or the path of a file that holds one. `tokenizer` outlives this. Raises Error when a file is broken or
  // `custom` is none of these. A folder without a template is fine until one is needed.
  ChatTemplate(const std::string& folder, const std::string& custom, const Tokenizer& tokenizer);
  ~ChatTemplate();

  bool exists() const;
  // For people: "qwen3, built in" or "chat_template.jinja of FOLDER, by jinja2".
  std::string describe() const;

  // Raises Error, naming the message, for what the template cannot say; and when there is no template.
  ChatIds tokenize(const io::Json& conversation, const ChatOptions& options) const;
  // The same with `assistant` true to the turns. For templates of jinja2 without {% generation %} blocks the turns are
  // found by rendering the conversation up to each of them; refused are a template that changes earlier turns and an
  // answer that comes first. last_turn_only: `assistant` is true to the last turn alone.
  ChatIds tokenize_for_training(const io::Json& conversation, const ChatOptions& options,
                                bool last_turn_only = false) const;
  // One line for each argument that the template does not look at; those of a built-in format list what it does look
  // at.
  std::vector<std::string> unused_arguments(const io::Json& arguments) const;

 private:
  struct Source;
  const Source& source_for(const ChatOptions& options) const;
  std::vector<text::ChatPiece> render(const io::Json& conversation, const ChatOptions& options) const;
  void add_source(std::string name, std::string text, const std::string& where);

  const Tokenizer& tokenizer_;
  text::SpecialTokens specials_;
  std::string folder_;
  io::Json tokens_;                               // bos_token and the like
  std::vector<std::unique_ptr<Source>> sources_;  // named templates: "default", "tool_use"
};

}  // namespace hone
