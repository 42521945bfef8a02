#include "text/tokenizer_config.h"

#include <algorithm>
#include <utility>

#include "text/companions.h"

namespace hone::text {

using io::Json;
using io::JsonAt;

namespace {
constexpr const char *kOwnFile = "tokenizer_config.json", *kJinjaFile = "chat_template.jinja";
constexpr const char* kSpecialTokens[] = {"bos_token", "eos_token", "unk_token", "pad_token",
                                          "sep_token", "cls_token", "mask_token"};
}  // namespace

TokenizerConfig::TokenizerConfig(const std::string& model)
    : model_(model), config_(read_companion_json(model, kOwnFile)) {}

std::optional<Json> TokenizerConfig::read(const std::string& name) const {
  return name == kOwnFile ? config_ : read_companion_json(model_, name);
}

std::vector<SpecialToken> TokenizerConfig::special_tokens() const {
  std::vector<SpecialToken> tokens;
  const auto is_known = [&](std::string_view key) {
    return std::any_of(tokens.begin(), tokens.end(), [&](const SpecialToken& token) { return token.key == key; });
  };
  for (const char* name : {kOwnFile, "special_tokens_map.json"}) {
    const auto json = read(name);
    if (!json) continue;
    const std::string place = companion_place(model_, name);
    for (const char* key : kSpecialTokens) {
      const auto token = JsonAt(*json, place).find(key);
      if (!token || is_known(key)) continue;
      // an added token is an object with its content
      tokens.push_back({key, token->value().is_object() ? (*token)["content"].as_string() : token->as_string(), place});
    }
  }
  return tokens;
}

std::optional<SpecialToken> TokenizerConfig::special_token(const std::string& key) const {
  for (SpecialToken& token : special_tokens()) {
    if (token.key == key) return std::move(token);
  }
  return std::nullopt;
}

std::vector<ChatTemplateText> TokenizerConfig::chat_templates() const {
  if (auto own = read_companion(model_, kJinjaFile)) {
    return {{"default", *std::move(own), companion_place(model_, kJinjaFile)}};
  }
  for (const char* name : {kOwnFile, "chat_template.json"}) {
    const auto json = read(name);
    if (!json) continue;
    const std::string place = companion_place(model_, name);
    const auto chat = JsonAt(*json, place).find("chat_template");
    if (!chat) continue;
    if (chat->value().is_string()) return {{"default", chat->as_string(), place}};
    if (!chat->value().is_array()) {
      chat->fail("expected text or a list of named templates, found " + chat->value().describe());
    }
    std::vector<ChatTemplateText> named;
    for (const JsonAt& item : chat->items()) {
      named.push_back({item["name"].as_string(), item["template"].as_string(), place});
    }
    return named;
  }
  return {};
}

}  // namespace hone::text
