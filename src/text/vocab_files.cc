#include "text/vocab_files.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/error.h"
#include "io/file.h"
#include "text/qwen_components.h"
#include "text/tokenizer_component.h"

namespace hone::text {

using io::Json;
using io::JsonAt;

namespace {

void check_class(const JsonAt& config) {
  const JsonAt name = config["tokenizer_class"];
  if (name.as_string() == "Qwen2Tokenizer" || name.as_string() == "Qwen2TokenizerFast") return;
  refuse(name, fmt::format("{}: without tokenizer.json only Qwen2Tokenizer is known", name.as_string()));
}

Json added_tokens_of(const JsonAt& config) {
  Json added = Json::array();
  const auto tokens = config.find("added_tokens_decoder");
  if (!tokens) return added;
  if (!tokens->value().is_object()) tokens->fail("expected an object, found " + tokens->value().describe());
  for (const auto& [key, value] : tokens->value().as_object()) {
    int64_t id = 0;
    const char* const key_end = key.data() + key.size();
    const auto [end, error] = std::from_chars(key.data(), key_end, id);
    if (error != std::errc() || end != key_end || !value.is_object()) {
      tokens->fail(fmt::format("expected ids with objects, found \"{}\": {}", key, value.describe()));
    }
    Json token = value;
    token.set("id", id);
    added.push_back(std::move(token));
  }
  return added;
}

Json read_merges(const std::string& path) {
  const std::string text = io::read_file(path);
  Json merges = Json::array();
  for (size_t begin = 0; begin < text.size();) {
    const size_t newline = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, newline - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) merges.push_back(line);
    begin = newline + 1;
  }
  return merges;
}

}  // namespace

Json read_vocab_files(const std::string& folder) {
  const std::string path = io::join_path(folder, "tokenizer_config.json");
  const Json config = io::read_json(path);
  check_class(JsonAt(config, path));
  Json model = Json::object({{"type", "BPE"}});
  model.set("vocab", io::read_json(io::join_path(folder, "vocab.json")));
  model.set("merges", read_merges(io::join_path(folder, "merges.txt")));
  return Json::object({{"added_tokens", added_tokens_of(JsonAt(config, path))},
                       {"normalizer", Json::object({{"type", "NFC"}})},
                       {"pre_tokenizer", qwen_pre_tokenizer()},
                       {"decoder", byte_level_component()},
                       {"model", std::move(model)}});
}

}  // namespace hone::text
