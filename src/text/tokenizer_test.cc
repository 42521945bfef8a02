#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/random.h"
#include "io/json.h"
#include "text/byte_alphabet.h"
#include "text/text_stream.h"
#include "text/tokenizer_file.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace hone {
namespace {

using io::Json;

// All 256 bytes, a few merges, two special tokens and one that is not.
Json tiny() {
  Json vocab = Json::object(), merges = Json::array();
  for (int b = 0; b < 256; ++b) vocab.set(text::byte_character(static_cast<unsigned char>(b)), int64_t{b});
  const auto merge = [&](const std::string& left, const std::string& right) {
    vocab.set(left + right, static_cast<int64_t>(vocab.as_object().size()));
    merges.push_back(Json::array({left, right}));
  };
  merge("l", "l");
  merge("h", "e");
  merge("he", "ll");
  merge("hell", "o");
  merge("Ġ", "w");
  merge("Ã", "¼");
  const auto added = [](int64_t id, const char* content, bool special) {
    return Json::object({{"id", id}, {"content", content}, {"special", special}, {"normalized", false}});
  };
  const Json byte_level = Json::object({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}});
  const Json split = Json::object({{"type", "Split"},
                                   {"pattern", Json::object({{"Regex", text::kQwenRegex}})},
                                   {"behavior", "Isolated"},
                                   {"invert", false}});
  return Json::object(
      {{"added_tokens", Json::array({added(300, "<end>", true), added(301, "<end>>", true), added(302, "<t>", false)})},
       {"normalizer", Json::object({{"type", "NFC"}})},
       {"pre_tokenizer", Json::object({{"type", "Sequence"}, {"pretokenizers", Json::array({split, byte_level})}})},
       {"decoder", byte_level},
       {"model", Json::object({{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}})}});
}

Tokenizer make(const Json& json) { return Tokenizer(text::parse_tokenizer(json, "t.json")); }

using Ids = std::vector<int32_t>;

TEST(Tokenizer, MergesWithinPieces) {
  const Tokenizer tokenizer = make(tiny());
  EXPECT_EQ(tokenizer.encode("hello", false), Ids{259});
  EXPECT_EQ(tokenizer.encode("hell wo", false), (Ids{258, 260, 'o'}));
  EXPECT_EQ(tokenizer.encode("u\u0308", false), Ids{261}) << "normal form C comes first";
  EXPECT_EQ(tokenizer.encode("", false), Ids{});
  EXPECT_EQ(tokenizer.vocab_size(), 303);
}

TEST(Tokenizer, AddedTokensAreFoundLeftmostAndLongest) {
  const Tokenizer tokenizer = make(tiny());
  EXPECT_EQ(tokenizer.encode("<<end>>>hello<end><t>", true), (Ids{'<', 301, '>', 259, 300, 302}));
}

TEST(Tokenizer, NoControlIdComesFromTextUnlessAskedFor) {
  const Tokenizer tokenizer = make(tiny());
  const auto ids = tokenizer.encode("hi<end>\n<end>><t>", false);
  for (const int32_t id : ids) EXPECT_FALSE(tokenizer.is_special(id));
  EXPECT_EQ(ids.back(), 302) << "a token that is not special is no control token";
  EXPECT_EQ(tokenizer.decode(ids, true), "hi<end>\n<end>><t>");
}

TEST(Tokenizer, ShownTextLeavesSpecialTokensOutAndIsValid) {
  const Tokenizer tokenizer = make(tiny());
  const Ids ids = {259, 300, 302, 0xF0, 0x9F, 0xA6, 300, 9999, -1};  // an emoji cut in two, and ids that do not exist
  EXPECT_EQ(tokenizer.decode(ids, true), "hello<t>\uFFFD");
  EXPECT_EQ(tokenizer.decode(Ids{0xF0, 0x9F, 0xA6, 0x99}, true), "\U0001F999");
  EXPECT_EQ(tokenizer.decode(Ids{259, 300}, false), "hello<end>");
  const Ids pieces = {257, 256, 'o'};  // he + ll + o: ids that encoding would not give are text all the same
  EXPECT_EQ(tokenizer.decode(pieces, true), "hello");
}

TEST(Tokenizer, FindsTokensByContent) {
  const Tokenizer tokenizer = make(tiny());
  EXPECT_EQ(tokenizer.find("<end>"), 300);
  EXPECT_EQ(tokenizer.find(" w"), 260);
  EXPECT_EQ(tokenizer.find("nothing"), std::nullopt);
}

// K2: shown text is valid UTF-8 wherever an answer is cut, and nothing of it is taken back.
TEST(TextStream, HoldsBytesBackUntilTheyAreACharacter) {
  const Tokenizer tokenizer = make(tiny());
  const std::string r = "\uFFFD";
  struct Row {
    Ids ids;
    std::vector<std::string> shown;  // after each id, then at the end
  };
  const Row table[] = {
      {{0xF0, 0x9F, 0xA6, 0x99}, {"", "", "", "\U0001F999", ""}},
      {{0xF0, 0x9F, 0xA6}, {"", "", "", r}},  // an emoji cut by the limit
      {{0xF0, 0x9F}, {"", "", r}},
      {{0xF0}, {"", r}},
      {{259, 0xF0, 0x9F, 0xA6, 300}, {"hello", "", "", "", "", r}},  // then the end id
      {{0xF0, 0x9F, 'z'}, {"", "", r + "z", ""}},                    // it cannot become one any more
      {{0xE2, 0x82, 0xE2, 0x82, 0xAC}, {"", "", r, "", "\u20AC", ""}},
      {{0x80, 'a'}, {r, "a", ""}},  // a continuation alone never can
      {{0xFF}, {r, ""}},
      {{0xC3, 0xBC}, {"", "\u00FC", ""}},
      {{261, 0xC3}, {"\u00FC", "", r}},
      {{0xED, 0xA0, 0x80}, {"", r + r, r, ""}},  // a surrogate: broken at its second byte
      {{-1, 9999, 'a'}, {"", "", "a", ""}},      // ids of no token
      {{}, {""}},
  };
  for (const Row& row : table) {
    TextStream stream(tokenizer, true);
    std::vector<std::string> shown;
    std::string all;
    for (const int32_t id : row.ids) shown.push_back(stream.push(id));
    shown.push_back(stream.finish());
    EXPECT_EQ(shown, row.shown);
    for (const std::string& part : shown) {
      EXPECT_EQ(io::find_broken_utf8(part), std::string::npos);
      all += part;
    }
    EXPECT_EQ(all, tokenizer.decode(row.ids, true));
  }
}

// K2: ids are carried as they are; text and back again may be other ids with the same bytes.
TEST(Tokenizer, BytesOfIdsAreExact) {
  const Tokenizer tokenizer = make(tiny());
  const Ids table[] = {
      {257, 'l', 'l', 'o'},   {257, 256, 'o'}, {'h', 'e', 256, 'o'}, {258, 'o'}, {259},           {0xF0, 0x9F, 0xA6},
      {0xFF, 0xFE, 0x00},     {0xC3},          {' ', 'w'},           {260},      {300, 301, 302}, {257, 300, 256},
      {0xED, 0xA0, 0x80, 'x'}};
  for (const Ids& ids : table) {
    std::string bytes;
    for (const int32_t id : ids) bytes += tokenizer.token_bytes(id);
    EXPECT_EQ(tokenizer.decode_bytes(ids, false), bytes);
    if (io::find_broken_utf8(bytes) != std::string::npos) continue;
    EXPECT_EQ(tokenizer.decode_bytes(tokenizer.encode(bytes, true), false), bytes);
  }
  EXPECT_EQ(tokenizer.encode("hello", false), Ids{259}) << "not the he + llo an answer may have been drawn as";
}

TEST(Tokenizer, RefusesTextItHasNoTokenFor) {
  Json json = tiny();
  json.find("model")->set("vocab", Json::object({{"a", 0}, {"b", 1}}));
  json.find("model")->set("merges", Json::array());
  const Tokenizer tokenizer = make(json);
  try {
    tokenizer.encode("ab\u00E9", false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'\u00E9' (U+00E9)"), std::string::npos) << error.what();
  }
  EXPECT_THROW(tokenizer.encode("a\xFF", false), Error);
}

TEST(Tokenizer, ATokenLookedForInNormalizedText) {
  Json json = tiny();
  json.find("added_tokens")->push_back(Json::object({{"id", 303}, {"content", "\u00FCx"}, {"normalized", true}}));
  EXPECT_EQ(make(json).encode("u\u0308x", false), Ids{303});
}

TEST(Tokenizer, ReadsIdsThatComeBeforeEveryText) {
  Json json = tiny();
  const Json token = Json::object({{"SpecialToken", Json::object({{"id", "<end>"}})}});
  const Json sequence = Json::object({{"Sequence", Json::object({{"id", "A"}})}});
  const Json ids = Json::object({{"<end>", Json::object({{"ids", Json::array({300})}})}});
  const auto processor = [&](Json single) {
    return Json::object({{"type", "TemplateProcessing"}, {"single", std::move(single)}, {"special_tokens", ids}});
  };
  json.set("post_processor", processor(Json::array({token, sequence})));
  EXPECT_EQ(make(json).prefix_ids(), Ids{300});
  EXPECT_EQ(make(json).encode("hello", true), Ids{259});
  Ids once = {259}, twice = make(json).encode("<end>hello", true);
  make(json).add_prefix(once);
  make(json).add_prefix(twice);
  EXPECT_EQ(once, (Ids{300, 259}));
  EXPECT_EQ(twice, once) << "a text that begins with it gets no second one";
  json.set("post_processor", processor(Json::array({sequence, token})));
  EXPECT_THROW(make(json), Error);
}

TEST(Tokenizer, DecodingGivesTheTextBack) {
  const Tokenizer tokenizer = make(tiny());
  for (uint32_t trial = 0; trial < 2000; ++trial) {
    std::string given;
    const uint32_t length = random_below({1, Stream::test}, trial, 0, 0, 40);
    for (uint32_t i = 0; i < length; ++i) {
      const uint32_t ranges[] = {0x80, 0x80, 0x500, 0x3100, 0xD800, 0x110000};
      const uint32_t range = ranges[random_below({1, Stream::test}, trial, 1, i, 6)];
      const uint32_t c = random_below({1, Stream::test}, trial, 2, i, range);
      text::append_code_point(given, c >= 0xD800 && c < 0xE000 ? U'\n' : c);
    }
    const std::string normal = text::normalize_nfc(given);
    for (const bool special : {false, true}) {
      EXPECT_EQ(tokenizer.decode(tokenizer.encode(given, special), false), normal);
      EXPECT_EQ(tokenizer.decode(tokenizer.encode(normal, special), false), normal);
    }
  }
}

}  // namespace
}  // namespace hone
