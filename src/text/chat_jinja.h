// Templates that are none of the built-in formats: rendered by jinja2, sandboxed, in a Python worker.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/json.h"
#include "text/chat_encoder.h"
#include "text/chat_pieces.h"
#include "text/chat_request.h"
#include "workers/worker.h"

namespace hone::text {

class JinjaTemplate {
 public:
  // `tokens`: the variables that the tokenizer's configuration gives, {"bos_token": "...", ...}.
  // `specials` outlives this.
  JinjaTemplate(std::string source, io::Json tokens, const SpecialTokens& specials);
  ~JinjaTemplate();

  // Raises Error with what the template says is wrong, and for a template that Hone cannot follow: one that prints
  // control tokens in a way that cannot be told from the same text in the conversation.
  std::vector<ChatPiece> render(const io::Json& conversation, const ChatOptions& options) const;
  bool has_generation_blocks() const { return has_generation_blocks_; }
  // The variables that the template looks at.
  std::vector<std::string> variables() const;

 private:
  std::string rendered_marked(const io::Json& messages, const ChatOptions& options) const;

  std::string source_, marked_source_;
  io::Json tokens_, marked_tokens_;
  const SpecialTokens& specials_;
  bool has_generation_blocks_ = false;
  std::unique_ptr<workers::Worker> worker_;
};

}  // namespace hone::text
