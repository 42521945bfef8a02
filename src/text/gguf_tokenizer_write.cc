// A tokenizer into the metadata of a GGUF file.
#include <algorithm>

#include "core/error.h"
#include "text/companions.h"
#include "text/end_ids.h"
#include "text/gguf_cuts.h"
#include "text/gguf_tokenizer.h"
#include "text/gguf_tokens.h"
#include "text/tokenizer.h"
#include "text/tokenizer_component.h"
#include "text/tokenizer_config.h"
#include "text/tokenizer_file.h"

namespace hone::text {

using io::Json;

namespace {

[[noreturn]] void cannot_say(const std::string& place, const std::string& what) {
  throw Error(fmt::format("{}: {}", place, what),
              "a GGUF file has no place for it: programs that read it would give other ids");
}

// The cut with the same steps.
const GgufCut& find_cut(const TokenizerSpec& spec, const std::string& place) {
  for (const GgufCut& cut : gguf_cuts()) {
    const Json root = Json::object({{"pre_tokenizer", cut.pre_tokenizer()}});
    if (!(read_pre_tokenizer(io::JsonAt(root, place)) == spec.pre_tokenizer)) continue;
    if (spec.rules.ignore_merges == cut.ignore_merges) return cut;
    cannot_say(place, fmt::format("model.ignore_merges: expected {} beside the cut {}, found {}", cut.ignore_merges,
                                  cut.name, spec.rules.ignore_merges));
  }
  cannot_say(place,
             fmt::format("pre_tokenizer: expected one that has a name there ({}), found another", gguf_cut_names()));
}

// Tokens by id with their types, from the vocabulary and the added tokens.
void set_tokens(io::GgufWriter& writer, const Json& tokenizer, int64_t vocab_size, const std::string& place) {
  Json::Array tokens, types;
  for (int64_t id = 0; id < vocab_size; ++id) {
    tokens.emplace_back(fmt::format("[PAD{}]", id));
    types.emplace_back(int64_t{kUnused});
  }
  const auto put = [&](const Json& id, const std::string& token, int64_t type) {
    if (id.as_int() >= vocab_size) {
      throw Error(
          fmt::format("{}: token \"{}\": expected an id below {}, found {}", place, token, vocab_size, id.as_int()),
          "the tokenizer and config.json are of different models");
    }
    tokens[static_cast<size_t>(id.as_int())] = token;
    types[static_cast<size_t>(id.as_int())] = type;
  };
  for (const auto& [token, id] : tokenizer.at("model").at("vocab").as_object()) put(id, token, kNormal);
  if (const Json* added = tokenizer.find("added_tokens"); added != nullptr && added->is_array()) {
    for (const Json& token : added->as_array()) {
      const AddedToken read = read_added_token(io::JsonAt(token, place));
      if (read.single_word || read.lstrip || read.rstrip) {
        cannot_say(place, fmt::format("token \"{}\": expected no single_word, lstrip or rstrip", read.content));
      }
      put(token.at("id"), read.content, read.special ? kControl : kUserDefined);
    }
  }
  writer.set("tokenizer.ggml.tokens", Json(std::move(tokens)));
  writer.set("tokenizer.ggml.token_type", Json(std::move(types)));
}

Json merges_as_text(const Json& merges) {
  Json::Array lines;
  for (const Json& merge : merges.as_array()) {
    if (merge.is_array()) {
      lines.emplace_back(merge.as_array()[0].as_string() + " " + merge.as_array()[1].as_string());
    } else if (!merge.as_string().starts_with("#version")) {
      lines.push_back(merge);
    }
  }
  return lines;
}

void set_special_ids(io::GgufWriter& writer, const std::string& model, const TokenizerConfig& config,
                     const Tokenizer& tokenizer) {
  const auto& begin = tokenizer.prefix_ids();
  if (begin.size() > 1)
    cannot_say(companion_place(model, "tokenizer.json"), "post_processor: expected one id before a text");
  writer.set("tokenizer.ggml.add_bos_token", !begin.empty());
  const EndIds ends = find_end_ids(model, tokenizer);
  const std::vector<SpecialToken> named = config.special_tokens();
  for (const auto& [key, gguf_key] : kGgufSpecialTokens) {
    std::optional<int32_t> id;
    for (const SpecialToken& token : named) {
      if (token.key == key) id = tokenizer.find(token.text);
    }
    if (key == std::string_view("bos_token") && !begin.empty()) id = begin.front();
    if (key == std::string_view("eos_token") && !id && !ends.ids.empty()) id = ends.ids.front();
    if (id) writer.set(gguf_key, int64_t{*id});
  }
  writer.set("hone.end_ids", Json(Json::Array(ends.ids.begin(), ends.ids.end())));
}

void set_chat_templates(io::GgufWriter& writer, const TokenizerConfig& config) {
  const std::string key = "tokenizer.chat_template";
  Json names = Json::array();
  for (const ChatTemplateText& chat : config.chat_templates()) {
    if (chat.name == "default") {
      writer.set(key, chat.text);
    } else {
      writer.set(key + "." + chat.name, chat.text);
      names.push_back(chat.name);
    }
  }
  if (!names.as_array().empty()) writer.set(key + "s", std::move(names));
}

}  // namespace

void add_tokenizer_to_gguf(io::GgufWriter& writer, const std::string& model, int64_t vocab_size) {
  std::string place;
  const Json tokenizer = read_tokenizer_json(model, place);
  const TokenizerSpec spec = parse_tokenizer(tokenizer, place);  // strict: what follows finds its keys
  const Tokenizer parsed(spec);
  const GgufCut& cut = find_cut(spec, place);
  writer.set("tokenizer.ggml.model", "gpt2");
  writer.set("tokenizer.ggml.pre", cut.name);
  set_tokens(writer, tokenizer, vocab_size, place);
  writer.set("tokenizer.ggml.merges", merges_as_text(tokenizer.at("model").at("merges")));
  writer.set("hone.nfc", spec.nfc);
  const TokenizerConfig config(model);
  set_special_ids(writer, model, config, parsed);
  set_chat_templates(writer, config);
}

}  // namespace hone::text
