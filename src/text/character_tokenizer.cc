#include "text/character_tokenizer.h"

#include <algorithm>
#include <cstdint>

#include "core/error.h"
#include "io/file.h"
#include "io/json.h"
#include "text/byte_alphabet.h"
#include "text/qwen_components.h"

namespace hone {

using io::Json;

namespace {

Json added_token(int64_t id, const std::string& content) {
  return Json::object({{"id", id},
                       {"content", content},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", true}});
}

Json model(std::string_view characters) {
  Json vocab = Json::object();
  for (const char c : characters) {
    const std::string key = text::byte_character(static_cast<unsigned char>(c));
    HONE_CHECK(static_cast<unsigned char>(c) < 0x80 && !vocab.find(key), "character {} of \"{}\"", key, characters);
    vocab.set(key, static_cast<int64_t>(vocab.as_object().size()));
  }
  return Json::object({{"type", "BPE"},
                       {"dropout", nullptr},
                       {"unk_token", nullptr},
                       {"continuing_subword_prefix", ""},
                       {"end_of_word_suffix", ""},
                       {"fuse_unk", false},
                       {"byte_fallback", false},
                       {"ignore_merges", false},
                       {"vocab", vocab},
                       {"merges", Json::array()}});
}

}  // namespace

void write_character_tokenizer(const std::string& folder, std::string_view characters,
                               const std::vector<std::string>& special_tokens, const std::string& end_token) {
  HONE_CHECK(std::count(special_tokens.begin(), special_tokens.end(), end_token) == 1, "end token {}", end_token);
  Json added = Json::array();
  auto id = static_cast<int64_t>(characters.size());
  for (const std::string& content : special_tokens) added.push_back(added_token(id++, content));
  io::make_folders(folder);
  io::write_json(io::join_path(folder, "tokenizer.json"),
                 Json::object({{"version", "1.0"},
                               {"truncation", nullptr},
                               {"padding", nullptr},
                               {"added_tokens", added},
                               {"normalizer", nullptr},
                               {"pre_tokenizer", text::qwen_pre_tokenizer()},
                               {"post_processor", text::byte_level_component()},
                               {"decoder", text::byte_level_component()},
                               {"model", model(characters)}}));
  io::write_json(io::join_path(folder, "tokenizer_config.json"),
                 Json::object({{"add_bos_token", false},
                               {"add_prefix_space", false},
                               {"clean_up_tokenization_spaces", false},
                               {"eos_token", end_token},
                               {"tokenizer_class", "PreTrainedTokenizerFast"},
                               {"unk_token", nullptr}}));
}

}  // namespace hone
