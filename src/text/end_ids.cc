#include "text/end_ids.h"

#include <algorithm>

#include "core/error.h"
#include "io/json.h"
#include "text/companions.h"
#include "text/tokenizer_config.h"

namespace hone {

namespace {

using io::JsonAt;

void add_id(const JsonAt& at, const Tokenizer& tokenizer, std::vector<int32_t>& ids) {
  const int64_t id = at.as_int();
  if (id < 0 || id >= tokenizer.vocab_size()) {
    throw Error(
        fmt::format("{}: end id {} is outside the tokenizer's ids, [0, {})", at.where(), id, tokenizer.vocab_size()),
        "no answer could end on it; take the id of an end token, or the tokenizer of this model");
  }
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(static_cast<int32_t>(id));
}

void add_ids_of(const std::string& model, const char* name, const Tokenizer& tokenizer, std::vector<int32_t>& ids) {
  const auto json = text::read_companion_json(model, name);
  if (!json) return;
  const auto value = JsonAt(*json, text::companion_place(model, name)).find("eos_token_id");
  if (!value) return;
  if (!value->value().is_array()) return add_id(*value, tokenizer, ids);
  for (const JsonAt& item : value->items()) add_id(item, tokenizer, ids);
}

}  // namespace

EndIds find_end_ids(const std::string& folder, const Tokenizer& tokenizer) {
  EndIds found;
  for (const char* name : {"generation_config.json", "config.json"}) {
    add_ids_of(folder, name, tokenizer, found.ids);
  }
  if (!found.ids.empty()) return found;
  const auto token = text::TokenizerConfig(folder).special_token("eos_token");
  if (!token) {
    found.note = fmt::format("{}: no file names an end id (eos_token_id): answers end at their limit only", folder);
    return found;
  }
  const auto id = tokenizer.find(token->text);
  if (!id) {
    throw Error(fmt::format("{}: eos_token: '{}' is no token of the tokenizer", token->place, token->text),
                "name one of its tokens, or eos_token_id in generation_config.json");
  }
  found.ids.push_back(*id);
  found.note = fmt::format(
      "{}: neither generation_config.json nor config.json has eos_token_id; answers end on the eos_token '{}' ({})",
      token->place, token->text, *id);
  return found;
}

}  // namespace hone
