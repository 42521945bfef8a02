// Text to ids and back. The first byte picks one of four tokenizers. What must hold for any text:
//   the bytes of the ids are the text (in normal form C where the tokenizer has it);
//   no control id comes from a text without special tokens;
//   a text with a special token inside gives the ids of its parts, and ids shown one by one the text of them all.
#include <algorithm>
#include <bit>

#include "core/error.h"
#include "fuzz/target.h"
#include "io/json.h"
#include "text/byte_alphabet.h"
#include "text/pre_pattern.h"
#include "text/text_stream.h"
#include "text/tokenizer.h"
#include "text/tokenizer_file.h"
#include "text/unicode.h"

namespace hone::fuzz {
namespace {

using io::Json;

constexpr std::string_view kEnd = "<|end|>";

// All bytes, and merges in which every order of merging matters somewhere.
Json make_model(bool ignore_merges) {
  Json vocab = Json::object(), merges = Json::array();
  for (int b = 0; b < 256; ++b) vocab.set(text::byte_character(static_cast<unsigned char>(b)), int64_t{b});
  const char* const pairs[][2] = {{"a", "b"},   {"b", "c"},  {"a", "a"},  {"aa", "aa"}, {"Ġ", "a"}, {"Ġ", "Ġ"},
                                  {"ĠĠ", "ĠĠ"}, {"ab", "c"}, {"1", "2"},  {"12", "3"},  {"Ã", "¼"}, {"ð", "Ł"},
                                  {"Ċ", "Ċ"},   {"'", "s"},  {"Ġ", "ab"}, {"bc", "bc"}, {".", "."}, {"Ì", "Ī"}};
  for (const auto& [left, right] : pairs) {
    vocab.set(std::string(left) + right, static_cast<int64_t>(vocab.as_object().size()));
    merges.push_back(Json::array({left, right}));
  }
  return Json::object({{"type", "BPE"}, {"ignore_merges", ignore_merges}, {"vocab", vocab}, {"merges", merges}});
}

Json byte_level(bool use_regex) {
  return Json::object({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", use_regex}});
}

Json split(std::string_view regex) {
  return Json::object({{"type", "Split"}, {"pattern", Json::object({{"Regex", regex}})}, {"behavior", "Isolated"}});
}

Tokenizer make_tokenizer(const Json& first_step, bool own_regex, bool nfc, bool ignore_merges) {
  const Json steps = Json::array({first_step, byte_level(own_regex)});
  const Json added = Json::array({Json::object({{"id", 300}, {"content", kEnd}, {"special", true}})});
  return Tokenizer(text::parse_tokenizer(
      Json::object({{"added_tokens", added},
                    {"normalizer", nfc ? Json::object({{"type", "NFC"}}) : Json()},
                    {"pre_tokenizer", Json::object({{"type", "Sequence"}, {"pretokenizers", steps}})},
                    {"decoder", byte_level(false)},
                    {"model", make_model(ignore_merges)}}),
      "fuzz"));
}

const Tokenizer& pick_tokenizer(unsigned kind) {
  static const Tokenizer qwen = make_tokenizer(split(text::kQwenRegex), false, false, false);
  static const Tokenizer qwen_nfc = make_tokenizer(split(text::kQwenRegex), false, true, false);
  static const Tokenizer llama3 = make_tokenizer(split(text::kLlama3Regex), false, false, true);
  static const Tokenizer smollm2 =
      make_tokenizer(Json::object({{"type", "Digits"}, {"individual_digits", true}}), true, false, false);
  const Tokenizer* const all[] = {&qwen, &qwen_nfc, &llama3, &smollm2};
  return *all[kind % 4];
}

// Ids of the parts between the ends, with the end's id between them.
std::vector<int32_t> encode_parts(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<int32_t> ids;
  for (size_t begin = 0;;) {
    const size_t end = text.find(kEnd, begin);
    const auto part = tokenizer.encode(text.substr(begin, end - begin), false);
    ids.insert(ids.end(), part.begin(), part.end());
    if (end == std::string_view::npos) return ids;
    ids.push_back(*tokenizer.find(kEnd));
    begin = end + kEnd.size();
  }
}

// How far the text was merged, whether it has a special token, whether normal form C changes it.
void tell(std::string_view text, size_t num_plain, size_t num_ids) {
  const size_t merged = text.empty() ? 0 : 16 * (text.size() - std::min(text.size(), num_plain)) / text.size();
  std::string what(1, static_cast<char>('a' + merged));
  what += num_ids < num_plain ? 's' : 'p';
  what += text::may_change_under_nfc(text) ? 'n' : 'o';
  what += static_cast<char>('a' + std::bit_width(num_plain));
  behaviour(what);
}

void check(const Tokenizer& tokenizer, std::string_view text, bool nfc) {
  const auto plain = tokenizer.encode(text, false);
  for (const int32_t id : plain) FUZZ_CHECK(!tokenizer.is_special(id), fmt::format("special id {}", id));
  FUZZ_CHECK(tokenizer.decode_bytes(plain, false) == (nfc ? text::normalize_nfc(text) : std::string(text)),
             "bytes of the ids");
  const auto ids = tokenizer.encode(text, true);
  FUZZ_CHECK(ids == encode_parts(tokenizer, text), "ids of the parts");
  TextStream stream(tokenizer, true);
  std::string shown;
  for (const int32_t id : ids) {
    const std::string more = stream.push(id);
    FUZZ_CHECK(io::find_broken_utf8(more) == std::string::npos, fmt::format("after id {}", id));
    shown += more;
  }
  FUZZ_CHECK(shown + stream.finish() == tokenizer.decode(ids, true), "shown text");
  tell(text, plain.size(), ids.size());
}

// The input taken as ids: any bytes, so the text of them is often broken.
void check_stream(const Tokenizer& tokenizer, std::string_view bytes) {
  std::vector<int32_t> ids;
  for (const char byte : bytes) ids.push_back(static_cast<unsigned char>(byte));
  TextStream stream(tokenizer, false);
  std::string shown;
  for (const int32_t id : ids) shown += stream.push(id);
  FUZZ_CHECK(shown + stream.finish() == tokenizer.decode(ids, false), "shown bytes");
}

void run(std::string_view input) {
  if (input.empty()) return;
  const auto kind = static_cast<unsigned char>(input[0]);
  const std::string_view text = input.substr(1);
  const Tokenizer& tokenizer = pick_tokenizer(kind);
  check_stream(tokenizer, text);
  try {
    tokenizer.encode(text, true);
  } catch (const Error& error) {
    FUZZ_CHECK(io::find_broken_utf8(text) != std::string_view::npos, error.what());
    behaviour("broken");
    return;
  }
  FUZZ_CHECK(io::find_broken_utf8(text) == std::string_view::npos, "broken UTF-8 was taken");
  check(tokenizer, text, kind % 4 == 1);
}

Material material() {
  const std::string texts[] = {"This is \U0001F999.cpp abc aaaa",
                               "Fu\u0308hrer it's we'LL 1234567",
                               "a<|end|>b <|end|",
                               " \n\r\n  x\t\u00A0\u3000",
                               "\u1112\u1161\u11AB \uAC00\u11A8 e\u0323\u0301 \u212B",
                               "\U0001F468\u200D\U0001F469 \u2167\u00BD \u0664",
                               std::string(70, 'a') + std::string(70, ' ') + std::string(20, '\n'),
                               "x\xF0\x9F\xA6",
                               "\xFF\xC0\x80\xED\xA0\x80"};
  Material material;
  for (const std::string& text : texts) {
    for (const char kind : {'\0', '\1', '\2', '\3'}) material.seeds.push_back(kind + text);
  }
  material.dictionary = {"<|end|>",    "'s",     "'LL",          "'\u017F", " ",      "\n",     "\r\n",
                         "\u0301",     "\u0308", "u\u0308",      "\u1161",  "\u11A8", "\uAC00", "\u0958",
                         "\U0001F999", "\u200D", "abc",          "aaaa",    "123",    "\u00A0", "\u3000",
                         "\u0085",     "\uFEFF", "\xF0\x9F\xA6", "\xE2",    "!!",     "."};
  return material;
}

}  // namespace

FUZZ_TARGET(run, material)

}  // namespace hone::fuzz
