// TokenizerConfig: what the files beside a tokenizer say of it: the names of its special tokens and its chat templates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/json.h"

namespace hone::text {

struct SpecialToken {
  std::string key;  // "eos_token"
  std::string text;
  std::string place;  // the file, for messages
};

struct ChatTemplateText {
  std::string name;  // "default", "tool_use"
  std::string text;
  std::string place;
};

// Of tokenizer_config.json, which is read once, and of what older and newer files hold in its stead. What is absent or
// null says nothing. Raises Error for a file that is broken and for what is no text.
class TokenizerConfig {
 public:
  explicit TokenizerConfig(const std::string& model);  // a folder or a GGUF file

  // bos_token, eos_token, unk_token, pad_token, sep_token, cls_token and mask_token, of special_tokens_map.json where
  // tokenizer_config.json does not name them.
  std::vector<SpecialToken> special_tokens() const;
  std::optional<SpecialToken> special_token(const std::string& key) const;
  // chat_template.jinja, or chat_template of tokenizer_config.json, or of chat_template.json: the first that is there.
  std::vector<ChatTemplateText> chat_templates() const;

 private:
  std::optional<io::Json> read(const std::string& name) const;

  std::string model_;
  std::optional<io::Json> config_;
};

}  // namespace hone::text
