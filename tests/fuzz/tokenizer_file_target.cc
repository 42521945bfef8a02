// tokenizer.json: a broken file is refused with its place, and one that is taken makes a tokenizer that works.
#include "core/error.h"
#include "fuzz/target.h"
#include "io/json.h"
#include "text/tokenizer.h"
#include "text/tokenizer_file.h"

namespace hone::fuzz {
namespace {

constexpr const char* kName = "tokenizer.json";

void use(const Tokenizer& tokenizer) {
  try {
    for (const bool special : {false, true}) {
      const auto ids = tokenizer.encode("ab 12 <a> ab\n", special);
      for (const int32_t id : ids) FUZZ_CHECK(id >= 0 && id < tokenizer.vocab_size(), fmt::format("id {}", id));
      FUZZ_CHECK(io::find_broken_utf8(tokenizer.decode(ids, special)) == std::string::npos, "broken text");
    }
    behaviour("encodes");
  } catch (const Error& error) {
    FUZZ_CHECK(std::string_view(error.what()).starts_with("the tokenizer has no token for"), error.what());
    behaviour("lacks a token");
  }
}

void run(std::string_view text) {
  try {
    const io::Json json = io::parse_json(text, kName);
    use(Tokenizer(text::parse_tokenizer(json, kName)));
  } catch (const Error& error) {
    behaviour(std::string_view(error.what()).substr(0, 60));  // the place and what is said of it, not what was found
    FUZZ_CHECK(std::string_view(error.what()).starts_with(kName), error.what());
  }
}

constexpr const char* kSplit = R"({
 "added_tokens": [{"id": 9, "content": "<a>", "single_word": true, "lstrip": true, "rstrip": true, "normalized": false,
                   "special": true}, {"id": 8, "content": "e", "normalized": true}],
 "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}]},
 "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
   {"type": "Split", "pattern": {"String": "a"}, "behavior": "MergedWithPrevious", "invert": false},
   {"type": "Split", "pattern": {"Regex": "\\p{N}{1,3}"}, "behavior": "Removed", "invert": true},
   {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false, "use_regex": true}]},
 "post_processor": {"type": "Sequence", "processors": [{"type": "ByteLevel"}, {"type": "TemplateProcessing",
   "single": [{"SpecialToken": {"id": "<a>"}}, {"Sequence": {"id": "A"}}],
   "special_tokens": {"<a>": {"id": "<a>", "ids": [9], "tokens": ["<a>"]}}}]},
 "decoder": {"type": "Sequence", "decoders": [{"type": "ByteLevel"}, {"type": "Fuse"}]},
 "model": {"type": "BPE", "dropout": null, "unk_token": "b", "fuse_unk": true, "byte_fallback": false,
   "ignore_merges": true, "vocab": {"a": 0, "b": 1, "\u0120": 2, "\u010a": 3, "ab": 4, "\u0120ab": 5, "1": 6},
   "merges": ["a b", ["\u0120", "ab"]]}})";
constexpr const char* kDigits = R"({
 "added_tokens": [], "normalizer": null, "truncation": {"max_length": 5}, "padding": null,
 "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": true},
   {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}]},
 "post_processor": null, "decoder": {"type": "ByteLevel"},
 "model": {"type": "BPE", "unk_token": null, "vocab": {"a": 0, "b": 1, "\u0120": 2, "\u010a": 3, "1": 4, "2": 5,
   "<": 6, ">": 7, "aa": 8}, "merges": ["#version: 0.2", "a a"]}})";

Material material() {
  return {{kSplit, kDigits, "{}", R"({"model": {"type": "BPE"}})"},
          {"null",
           "true",
           "false",
           "{}",
           "[]",
           "-1",
           "0",
           "16777216",
           "\"\"",
           "\"a\"",
           "\"a b\"",
           "[\"a\", \"b\"]",
           "\"Isolated\"",
           "\"Removed\"",
           "\"MergedWithNext\"",
           "\"Contiguous\"",
           "\"Split\"",
           "\"Digits\"",
           "\"ByteLevel\"",
           "\"NFC\"",
           "\"String\"",
           "\"Regex\"",
           "\"\\\\p{N}\"",
           "\"Sequence\"",
           "\"Fuse\"",
           "\"\\u0120\"",
           "\"\\u4f60\"",
           "\"invert\": true",
           "\"unk_token\": \"z\"",
           "\"ignore_merges\": false"},
          {}};
}

}  // namespace

FUZZ_TARGET(run, material)

}  // namespace hone::fuzz
