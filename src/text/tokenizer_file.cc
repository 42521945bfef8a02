#include "text/tokenizer_file.h"

#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/error.h"
#include "io/json.h"
#include "text/byte_alphabet.h"

namespace hone::text {

namespace {

using io::Json;
using io::JsonAt;

constexpr int64_t kMaxId = (int64_t{1} << 24) - 1;  // tables by id stay small whatever the file says

const std::string& type_of(const JsonAt& component) { return component["type"].as_string(); }

[[noreturn]] void refuse(const JsonAt& at, const std::string& what) {
  throw Error(
      fmt::format("{} {}", at.where(), what),
      "byte-level BPE tokenizers of Qwen2, Qwen3 and Llama 3 are supported; convert the tokenizer to that form");
}

[[noreturn]] void refuse_type(const JsonAt& component, const char* known) {
  refuse(component, fmt::format("{} is not supported, only {}", type_of(component), known));
}

// An absent flag has the neutral value; another value than the neutral one is refused.
void require_flag(const JsonAt& component, const char* key, bool neutral) {
  const auto flag = component.find(key);
  if (flag && flag->as_bool() != neutral) refuse(*flag, fmt::format("{} is not supported", !neutral));
}

int32_t read_id(const JsonAt& at) {
  const int64_t id = at.as_int();
  if (id < 0 || id > kMaxId) at.fail(fmt::format("id {} is outside [0, {}]", id, kMaxId));
  return static_cast<int32_t>(id);
}

bool read_normalizer(const JsonAt& root) {
  const auto normalizer = root.find("normalizer");
  if (!normalizer) return false;
  if (type_of(*normalizer) != "NFC") refuse_type(*normalizer, "NFC or null");
  return true;
}

std::optional<PrePattern> read_split(const JsonAt& split) {
  const JsonAt regex = split["pattern"]["Regex"];
  const auto pattern = find_pre_pattern(regex.as_string());
  if (!pattern) refuse(regex, fmt::format("the pattern is not that of Qwen or Llama 3: {}", regex.as_string()));
  if (split["behavior"].as_string() != "Isolated") refuse(split["behavior"], "only Isolated is supported");
  require_flag(split, "invert", false);
  return pattern;
}

PrePattern read_pre_tokenizer(const JsonAt& root) {
  const auto whole = root.find("pre_tokenizer");
  if (!whole) refuse(root, "pre_tokenizer is null; only Sequence of Split and ByteLevel is supported");
  if (type_of(*whole) != "Sequence") refuse_type(*whole, "Sequence of Split and ByteLevel");
  const auto steps = (*whole)["pretokenizers"].items();
  for (const JsonAt& step : steps) {
    if (type_of(step) != "Split" && type_of(step) != "ByteLevel") refuse_type(step, "Split, then ByteLevel");
  }
  if (steps.size() != 2 || type_of(steps[0]) != "Split" || type_of(steps[1]) != "ByteLevel") {
    refuse((*whole)["pretokenizers"], "only Split, then ByteLevel is supported");
  }
  if (!steps[1].find("use_regex")) refuse(steps[1], "use_regex is absent, which means true; only false is supported");
  require_flag(steps[1], "use_regex", false);
  require_flag(steps[1], "add_prefix_space", false);
  return *read_split(steps[0]);
}

void read_template(const JsonAt& processor, std::vector<int32_t>& prefix_ids) {
  bool text_seen = false;
  for (const JsonAt& item : processor["single"].items()) {
    if (item.find("Sequence")) {
      if (text_seen) refuse(item, "a second text is not supported");
      text_seen = true;
      continue;
    }
    const JsonAt name = item["SpecialToken"]["id"];
    if (text_seen) refuse(item, "a token after the text is not supported");
    for (const JsonAt& id : processor["special_tokens"][name.as_string()]["ids"].items()) {
      prefix_ids.push_back(read_id(id));
    }
  }
}

void read_post_processor(const JsonAt& processor, std::vector<int32_t>& prefix_ids) {
  const std::string& type = type_of(processor);
  if (type == "Sequence") {
    for (const JsonAt& step : processor["processors"].items()) read_post_processor(step, prefix_ids);
  } else if (type == "TemplateProcessing") {
    read_template(processor, prefix_ids);
  } else if (type != "ByteLevel") {
    refuse_type(processor, "ByteLevel, TemplateProcessing and Sequence");
  }
}

std::vector<AddedToken> read_added_tokens(const JsonAt& root) {
  std::vector<AddedToken> tokens;
  const auto list = root.find("added_tokens");
  if (!list) return tokens;
  std::unordered_set<std::string_view> contents;
  std::unordered_set<int32_t> ids;
  for (const JsonAt& item : list->items()) {
    for (const char* flag : {"single_word", "lstrip", "rstrip"}) require_flag(item, flag, false);
    AddedToken token{.id = read_id(item["id"]), .content = item["content"].as_string()};
    if (const auto special = item.find("special")) token.special = special->as_bool();
    if (const auto normalized = item.find("normalized")) token.normalized = normalized->as_bool();
    if (token.content.empty()) item.fail("the content is empty");
    if (!contents.insert(item["content"].as_string()).second) item.fail("the content stands in the list twice");
    if (!ids.insert(token.id).second) item.fail(fmt::format("id {} stands in the list twice", token.id));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// Fills the vocabulary, without the entries that are added tokens, and gives the ids of all entries as they are
// written.
TokenTable read_vocabulary(const JsonAt& vocab, TokenizerSpec& spec) {
  std::unordered_map<int32_t, std::string_view> content_by_id;
  for (const AddedToken& token : spec.added) content_by_id.emplace(token.id, token.content);
  std::unordered_map<std::string_view, int32_t> added_ids;
  for (const AddedToken& token : spec.added) added_ids.emplace(token.content, token.id);
  if (!vocab.value().is_object()) vocab.fail("expected an object, found " + vocab.value().describe());
  const Json::Object& entries = vocab.value().as_object();
  TokenTable ids(entries.size()), ids_by_bytes(entries.size());
  spec.vocabulary.reserve(entries.size());
  for (const auto& [key, value] : entries) {
    const auto fail = [&](const std::string& what) { vocab.fail(fmt::format("token \"{}\": {}", key, what)); };
    if (!value.is_int() || value.as_int() < 0 || value.as_int() > kMaxId) {
      fail(fmt::format("expected an id in [0, {}], found {}", kMaxId, value.describe()));
    }
    const auto id = static_cast<int32_t>(value.as_int());
    ids.insert(key, id);
    const auto added = added_ids.find(key);
    if (added != added_ids.end() && added->second == id) continue;
    if (added != added_ids.end()) fail(fmt::format("id {}, but {} in added_tokens", id, added->second));
    const auto [other, is_new] = content_by_id.emplace(id, key);
    if (!is_new) fail(fmt::format("id {} belongs to \"{}\" too", id, other->second));
    // A token with a character outside the alphabet can be decoded but never encoded.
    std::string bytes = from_byte_characters(key).value_or(key);
    if (bytes.empty()) fail("the token is empty");
    if (!ids_by_bytes.insert(bytes, id)) fail("another token stands for the same bytes");
    spec.vocabulary.emplace_back(std::move(bytes), id);
  }
  return ids;
}

std::pair<std::string_view, std::string_view> read_pair(const JsonAt& merges, size_t rank) {
  const Json& merge = merges.value().as_array()[rank];
  const auto fail = [&] {
    merges.fail(fmt::format("merge {}: expected \"left right\" or [left, right], found {}", rank, merge.describe()));
  };
  if (merge.is_string()) {
    const std::string_view text = merge.as_string();
    const size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) fail();
    return {text.substr(0, space), text.substr(space + 1)};
  }
  if (!merge.is_array() || merge.as_array().size() != 2) fail();
  for (const Json& side : merge.as_array()) {
    if (!side.is_string()) fail();
  }
  return {merge.as_array()[0].as_string(), merge.as_array()[1].as_string()};
}

MergeTable read_merges(const JsonAt& merges, const TokenTable& ids) {
  if (!merges.value().is_array()) merges.fail("expected a list, found " + merges.value().describe());
  const Json::Array& list = merges.value().as_array();
  MergeTable table(list.size());
  std::string merged;
  const auto find_id = [&](size_t rank, std::string_view token) {
    const int32_t id = ids.find(token);
    if (id < 0) merges.fail(fmt::format("merge {}: \"{}\" is not in the vocabulary", rank, token));
    return id;
  };
  uint32_t rank = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_string() && list[i].as_string().starts_with("#version")) continue;
    const auto [left, right] = read_pair(merges, i);
    merged.assign(left).append(right);
    const int32_t left_id = find_id(i, left), right_id = find_id(i, right);
    if (!table.insert(left_id, right_id, {rank++, find_id(i, merged)})) {
      merges.fail(fmt::format("merge {}: the pair \"{}\" \"{}\" stands in the list twice", i, left, right));
    }
  }
  return table;
}

void read_model(const JsonAt& model, TokenizerSpec& spec) {
  if (type_of(model) != "BPE") refuse_type(model, "BPE");
  require_flag(model, "byte_fallback", false);
  require_flag(model, "fuse_unk", false);
  for (const char* key : {"dropout", "unk_token"}) {
    if (const auto value = model.find(key))
      refuse(*value, fmt::format("{} is not supported", value->value().describe()));
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const auto value = model.find(key);
    if (value && !value->as_string().empty())
      refuse(*value, fmt::format("\"{}\" is not supported", value->as_string()));
  }
  if (const auto ignore = model.find("ignore_merges")) spec.ignore_merges = ignore->as_bool();
  const TokenTable ids = read_vocabulary(model["vocab"], spec);
  spec.merges = read_merges(model["merges"], ids);
}

}  // namespace

TokenizerSpec parse_tokenizer(const io::Json& json, const std::string& name) {
  const JsonAt root(json, name);
  for (const char* key : {"truncation", "padding"}) {
    if (const auto value = root.find(key)) refuse(*value, "only null is supported");
  }
  TokenizerSpec spec;
  spec.nfc = read_normalizer(root);
  spec.pattern = read_pre_tokenizer(root);
  if (const auto processor = root.find("post_processor")) read_post_processor(*processor, spec.prefix_ids);
  const JsonAt decoder = root["decoder"];
  if (type_of(decoder) != "ByteLevel") refuse_type(decoder, "ByteLevel");
  spec.added = read_added_tokens(root);
  read_model(root["model"], spec);
  if (spec.vocabulary.empty() && spec.added.empty()) root.fail("there are no tokens");
  return spec;
}

TokenizerSpec read_tokenizer_file(const std::string& path) { return parse_tokenizer(io::read_json(path), path); }

}  // namespace hone::text
