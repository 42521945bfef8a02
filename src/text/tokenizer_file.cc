#include "text/tokenizer_file.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/error.h"
#include "io/file.h"
#include "io/json.h"
#include "text/byte_alphabet.h"
#include "text/companions.h"
#include "text/tokenizer_component.h"
#include "text/vocab_files.h"

namespace hone::text {

namespace {

using io::Json;
using io::JsonAt;

std::vector<AddedToken> read_added_tokens(const JsonAt& root) {
  std::vector<AddedToken> tokens;
  const auto list = root.find("added_tokens");
  if (!list) return tokens;
  std::unordered_set<std::string_view> contents;
  std::unordered_set<int32_t> ids;
  for (const JsonAt& item : list->items()) {
    AddedToken token = read_added_token(item);
    token.id = read_token_id(item["id"]);
    if (!contents.insert(item["content"].as_string()).second) item.fail("the content stands in the list twice");
    if (!ids.insert(token.id).second) item.fail(fmt::format("id {} stands in the list twice", token.id));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// Fills the vocabulary, without the entries that are added tokens, and gives the ids of all entries as they are
// written.
TokenTable read_vocabulary(const JsonAt& vocab, TokenizerSpec& spec) {
  if (!vocab.value().is_object()) vocab.fail("expected an object, found " + vocab.value().describe());
  const Json::Object& entries = vocab.value().as_object();
  std::unordered_map<std::string_view, int32_t> added_ids;
  std::vector<const std::string*> content_by_id;
  const auto claim = [&](int32_t id, const std::string& content) {
    const auto i = static_cast<size_t>(id);
    if (i >= content_by_id.size()) content_by_id.resize(std::max(i + 1, 2 * content_by_id.size()));
    if (content_by_id[i] == nullptr) content_by_id[i] = &content;
    return content_by_id[i];
  };
  for (const AddedToken& token : spec.added) {
    added_ids.emplace(token.content, token.id);
    claim(token.id, token.content);
  }
  TokenTable ids(entries.size());
  spec.vocabulary.reserve(entries.size());
  for (const auto& [key, value] : entries) {
    const auto fail = [&, k = &key](const std::string& what) { vocab.fail(fmt::format("token \"{}\": {}", *k, what)); };
    if (!value.is_int() || value.as_int() < 0 || value.as_int() > kMaxTokenId) {
      fail(fmt::format("expected an id in [0, {}], found {}", kMaxTokenId, value.describe()));
    }
    if (key.empty()) fail("the token is empty");
    const auto id = static_cast<int32_t>(value.as_int());
    ids.insert(key, id);
    const auto added = added_ids.find(key);
    if (added != added_ids.end()) {
      if (added->second != id) fail(fmt::format("id {}, but {} in added_tokens", id, added->second));
      continue;
    }
    const std::string* owner = claim(id, key);
    if (owner != &key) fail(fmt::format("id {} belongs to \"{}\" too", id, *owner));
    if (auto bytes = from_byte_characters(key)) {
      spec.vocabulary.emplace_back(std::move(*bytes), id);
    } else {
      spec.unreachable.emplace_back(key, id);
    }
  }
  return ids;
}

std::pair<std::string_view, std::string_view> read_pair(const JsonAt& merges, size_t index) {
  const Json& merge = merges.value().as_array()[index];
  const auto fail = [&] {
    merges.fail(fmt::format("merge {}: expected \"left right\" or [left, right], found {}", index, merge.describe()));
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
  const auto find_id = [&](size_t index, std::string_view token) {
    const int32_t id = ids.find(token);
    if (id < 0) merges.fail(fmt::format("merge {}: \"{}\" is not in the vocabulary", index, token));
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

bool has_every_byte(const Vocabulary& vocabulary) {
  size_t single = 0;
  for (const auto& [bytes, id] : vocabulary) single += bytes.size() == 1;
  return single == 256;
}

void read_model(const JsonAt& model, TokenizerSpec& spec) {
  if (type_of(model) != "BPE") refuse_type(model, "BPE");
  if (const auto dropout = model.find("dropout"); dropout && dropout->as_double() != 0) {
    refuse(*dropout, fmt::format("{} is not supported, only null or 0", dropout->value().describe()));
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const auto value = model.find(key);
    if (value && !value->as_string().empty())
      refuse(*value, fmt::format("\"{}\" is not supported", value->as_string()));
  }
  spec.rules.ignore_merges = read_flag(model, "ignore_merges", false);
  spec.rules.fuse_unknown = read_flag(model, "fuse_unk", false);
  const TokenTable ids = read_vocabulary(model["vocab"], spec);
  if (const auto unknown = model.find("unk_token")) {
    const int32_t id = ids.find(unknown->as_string());
    if (id >= 0) spec.rules.unknown_id = id;
  }
  if (read_flag(model, "byte_fallback", false) && !has_every_byte(spec.vocabulary)) {
    refuse(model["byte_fallback"], "true is not supported where a byte has no token of its own");
  }
  spec.merges = read_merges(model["merges"], ids);
}

bool has_token(const TokenizerSpec& spec, int32_t id) {
  const auto is_it = [&](const auto& token) { return token.second == id; };
  return std::any_of(spec.added.begin(), spec.added.end(), [&](const AddedToken& t) { return t.id == id; }) ||
         std::any_of(spec.vocabulary.begin(), spec.vocabulary.end(), is_it);
}

}  // namespace

TokenizerSpec parse_tokenizer(const io::Json& json, const std::string& name) {
  const JsonAt root(json, name);
  TokenizerSpec spec;
  spec.nfc = read_normalizer(root);
  spec.pre_tokenizer = read_pre_tokenizer(root);
  spec.prefix_ids = read_prefix_ids(root);
  check_decoder(root);
  spec.added = read_added_tokens(root);
  read_model(root["model"], spec);
  if (spec.vocabulary.empty() && spec.added.empty()) root.fail("there are no tokens");
  for (const int32_t id : spec.prefix_ids) {
    if (!has_token(spec, id)) root["post_processor"].fail(fmt::format("id {} is no token of the file", id));
  }
  return spec;
}

io::Json read_tokenizer_json(const std::string& model, std::string& place) {
  place = companion_place(model, "tokenizer.json");
  if (auto json = read_companion_json(model, "tokenizer.json")) return *std::move(json);
  if (io::exists(io::join_path(model, "vocab.json"))) {
    place = model + ": vocab.json";
    return read_vocab_files(model);
  }
  return io::read_json(place);  // which raises the error
}

TokenizerSpec read_tokenizer_folder(const std::string& folder) {
  std::string place;
  const io::Json json = read_tokenizer_json(folder, place);
  return parse_tokenizer(json, place);
}

}  // namespace hone::text
