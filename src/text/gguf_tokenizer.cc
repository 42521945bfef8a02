#include "text/gguf_tokenizer.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "text/gguf_cuts.h"
#include "text/gguf_tokens.h"
#include "text/qwen_components.h"

namespace hone::text {

using io::Json;

namespace {

[[noreturn]] void refuse_gguf(const std::string& name, const std::string& key, const std::string& what) {
  throw Error(fmt::format("{}: {}: {}", name, key, what),
              "byte-level BPE of the Llama 3, Qwen2, Qwen3 and SmolLM2 models is read; docs/models.md");
}

const Json::Array& list_of(const Json& metadata, const std::string& name, const char* key) {
  const Json* list = metadata.find(key);
  if (list == nullptr || !list->is_array()) {
    refuse_gguf(name, key, "expected a list, found " + (list == nullptr ? "none" : list->describe()));
  }
  return list->as_array();
}

const std::string* text_of(const Json& metadata, const std::string& key) {
  const Json* text = metadata.find(key);
  return text != nullptr && text->is_string() ? &text->as_string() : nullptr;
}

const GgufCut& cut_of(const Json& metadata, const std::string& name) {
  const std::string* pre = text_of(metadata, "tokenizer.ggml.pre");
  for (const GgufCut& cut : gguf_cuts()) {
    if (pre != nullptr && *pre == cut.name) return cut;
  }
  refuse_gguf(name, "tokenizer.ggml.pre",
              fmt::format("expected one of {}, found {}", gguf_cut_names(), pre == nullptr ? "none" : *pre));
}

// The token of an id that a key names.
struct NamedToken {
  int64_t id;
  const std::string& content;
};
std::optional<NamedToken> token_of(const Json& metadata, const std::string& name, const std::string& key) {
  const Json* id = metadata.find(key);
  if (id == nullptr) return std::nullopt;
  const Json::Array& tokens = list_of(metadata, name, "tokenizer.ggml.tokens");
  if (!id->is_int() || id->as_int() < 0 || id->as_int() >= static_cast<int64_t>(tokens.size())) {
    refuse_gguf(name, key, fmt::format("expected an id below {}, found {}", tokens.size(), id->describe()));
  }
  const Json& token = tokens[static_cast<size_t>(id->as_int())];
  if (!token.is_string()) refuse_gguf(name, "tokenizer.ggml.tokens", "expected texts, found " + token.describe());
  return NamedToken{id->as_int(), token.as_string()};
}

// Whether the key is there and true, or absent and `otherwise`.
bool flag_of(const Json& metadata, const std::string& name, const char* key, bool otherwise) {
  const Json* flag = metadata.find(key);
  if (flag == nullptr) return otherwise;
  if (!flag->is_bool()) refuse_gguf(name, key, "expected true or false, found " + flag->describe());
  return flag->as_bool();
}

// Puts the begin token before a text.
Json begin_processor(const NamedToken& token) {
  const Json special =
      Json::object({{"id", token.content}, {"ids", Json::array({token.id})}, {"tokens", Json::array({token.content})}});
  const auto begin = [&](int64_t type) {
    return Json::object({{"SpecialToken", Json::object({{"id", token.content}, {"type_id", type}})}});
  };
  const auto sequence = [](const char* which, int64_t type) {
    return Json::object({{"Sequence", Json::object({{"id", which}, {"type_id", type}})}});
  };
  return Json::object({{"type", "TemplateProcessing"},
                       {"single", Json::array({begin(0), sequence("A", 0)})},
                       {"pair", Json::array({begin(0), sequence("A", 0), begin(1), sequence("B", 1)})},
                       {"special_tokens", Json::object({{token.content, special}})}});
}

struct TokenLists {
  Json::Object vocab;
  Json::Array added;
};

TokenLists tokens_of(const Json& metadata, const std::string& name) {
  const Json::Array& tokens = list_of(metadata, name, "tokenizer.ggml.tokens");
  const Json::Array& types = list_of(metadata, name, "tokenizer.ggml.token_type");
  if (types.size() != tokens.size()) {
    refuse_gguf(name, "tokenizer.ggml.token_type",
                fmt::format("expected {} of them, found {}", tokens.size(), types.size()));
  }
  TokenLists lists;
  std::unordered_set<std::string_view> seen;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is_string() || !types[i].is_int()) {
      refuse_gguf(name, "tokenizer.ggml.tokens",
                  fmt::format("expected texts with types, found {}, {}", tokens[i].describe(), types[i].describe()));
    }
    const auto id = static_cast<int64_t>(i), type = types[i].as_int();
    if (type == kUnused) continue;
    if (!seen.insert(tokens[i].as_string()).second) {
      refuse_gguf(name, "tokenizer.ggml.tokens",
                  fmt::format("expected each once, found {} twice", tokens[i].describe()));
    }
    if (type != kControl && type != kUserDefined) {
      lists.vocab.push_back({tokens[i].as_string(), id});
      continue;
    }
    lists.added.push_back(Json::object({{"id", id},
                                        {"content", tokens[i]},
                                        {"single_word", false},
                                        {"lstrip", false},
                                        {"rstrip", false},
                                        {"normalized", false},
                                        {"special", type == kControl}}));
  }
  return lists;
}

}  // namespace

Json tokenizer_json_of_gguf(const Json& metadata, const std::string& name) {
  const std::string* model = text_of(metadata, "tokenizer.ggml.model");
  if (model == nullptr || *model != "gpt2") {
    refuse_gguf(name, "tokenizer.ggml.model",
                fmt::format("expected gpt2 (byte-level BPE), found {}", model == nullptr ? "none" : *model));
  }
  const GgufCut& cut = cut_of(metadata, name);
  TokenLists lists = tokens_of(metadata, name);
  Json bpe = Json::object({{"type", "BPE"}, {"ignore_merges", cut.ignore_merges}});
  bpe.set("vocab", Json(std::move(lists.vocab)));
  bpe.set("merges", list_of(metadata, name, "tokenizer.ggml.merges"));
  Json post = byte_level_component();
  const auto begin = token_of(metadata, name, "tokenizer.ggml.bos_token_id");
  if (begin && flag_of(metadata, name, "tokenizer.ggml.add_bos_token", cut.begins)) post = begin_processor(*begin);
  if (flag_of(metadata, name, "tokenizer.ggml.add_eos_token", false)) {
    refuse_gguf(name, "tokenizer.ggml.add_eos_token", "expected false, found true: an end before the answer");
  }
  Json normalizer;
  if (flag_of(metadata, name, "hone.nfc", cut.nfc)) normalizer.set("type", "NFC");
  return Json::object({{"version", "1.0"},
                       {"truncation", nullptr},
                       {"padding", nullptr},
                       {"added_tokens", Json(std::move(lists.added))},
                       {"normalizer", std::move(normalizer)},
                       {"pre_tokenizer", cut.pre_tokenizer()},
                       {"post_processor", std::move(post)},
                       {"decoder", byte_level_component()},
                       {"model", std::move(bpe)}});
}

Json tokenizer_config_of_gguf(const Json& metadata, const std::string& name) {
  Json config = Json::object({{"tokenizer_class", "PreTrainedTokenizerFast"}, {"clean_up_tokenization_spaces", false}});
  for (const auto& [which, key] : kGgufSpecialTokens) {
    if (const auto token = token_of(metadata, name, key)) config.set(which, token->content);
  }
  const std::string key = "tokenizer.chat_template";
  const std::string* chat = text_of(metadata, key);
  if (metadata.find("tokenizer.chat_templates") == nullptr) {
    if (chat != nullptr) config.set("chat_template", *chat);
    return config;
  }
  Json templates = Json::array();
  const auto add = [&](const std::string& called, const std::string& text) {
    templates.push_back(Json::object({{"name", called}, {"template", text}}));
  };
  if (chat != nullptr) add("default", *chat);
  for (const Json& called : list_of(metadata, name, "tokenizer.chat_templates")) {
    const std::string* text = called.is_string() ? text_of(metadata, key + "." + called.as_string()) : nullptr;
    if (text == nullptr) refuse_gguf(name, key + "s", "expected names of templates, found " + called.describe());
    add(called.as_string(), *text);
  }
  config.set("chat_template", std::move(templates));
  return config;
}

Json generation_config_of_gguf(const Json& metadata, const std::string& name) {
  Json::Array ids;
  const auto add = [&](int64_t id) {
    if (std::find(ids.begin(), ids.end(), Json(id)) == ids.end()) ids.emplace_back(id);
  };
  if (metadata.find("hone.end_ids") != nullptr) {
    ids = list_of(metadata, name, "hone.end_ids");
  } else {
    for (const char* which : {"eos", "eot", "eom"}) {
      const auto token = token_of(metadata, name, fmt::format("tokenizer.ggml.{}_token_id", which));
      if (token) add(token->id);
    }
    const Json::Array& tokens = list_of(metadata, name, "tokenizer.ggml.tokens");
    const Json::Array& types = list_of(metadata, name, "tokenizer.ggml.token_type");
    for (size_t i = 0; i < std::min(tokens.size(), types.size()); ++i) {
      if (!(types[i] == Json(int64_t{kControl})) || !tokens[i].is_string()) continue;
      for (const char* end : {"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"}) {
        if (tokens[i].as_string() == end) add(static_cast<int64_t>(i));
      }
    }
  }
  Json config = Json::object();
  if (!ids.empty()) config.set("eos_token_id", Json(std::move(ids)));
  return config;
}

}  // namespace hone::text
