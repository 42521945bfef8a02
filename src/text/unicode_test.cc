#include "text/unicode.h"

#include <gtest/gtest.h>

#include "text/utf8.h"

namespace hone::text {
namespace {

TEST(Utf8, BrokenBytesBecomeOneReplacementForEachMaximalPrefix) {
  const std::string r = "\xEF\xBF\xBD";
  struct Row {
    std::string bytes, text;
  };
  const Row table[] = {
      {"plain", "plain"},
      {"\xF0\x9F\xA6\x99", "\xF0\x9F\xA6\x99"},
      {"a\xF0\x9F\xA6", "a" + r},                               // an emoji cut short
      {"\xF0\x9F\xA6z", r + "z"},                               // and followed by text
      {"\x80\xBF", r + r},                                      // continuation bytes alone
      {"\xC0\x80", r + r},                                      // overlong
      {"\xE0\x80\x80", r + r + r},                              // overlong: E0 wants A0..BF
      {"\xED\xA0\x80", r + r + r},                              // a surrogate
      {"\xF4\x90\x80\x80", r + r + r + r},                      // above U+10FFFF
      {"\xE2\x82\xE2\x82\xAC", r + "\xE2\x82\xAC"},             // cut, then whole
      {"\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64",  // Unicode 15, table 3-8
       "a" + r + r + r + "b" + r + "c" + r + r + "d"},
  };
  for (const Row& row : table) EXPECT_EQ(replace_invalid_utf8(row.bytes), row.text);
}

TEST(Utf8, EveryCodePointSurvivesWritingAndReading) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c == 0xD800) c = 0xE000;
    std::string text;
    append_code_point(text, c);
    const CodePoint point = decode_code_point(text, 0);
    ASSERT_TRUE(point.valid && point.value == c && point.size == text.size()) << static_cast<uint32_t>(c);
  }
}

TEST(Unicode, ClassesFollowTheGeneralCategory) {
  const std::pair<char32_t, CharClass> table[] = {
      {U'a', CharClass::letter},        {U'Z', CharClass::letter},      {U'\u00E9', CharClass::letter},
      {U'\u4E16', CharClass::letter},   {U'\u02B0', CharClass::letter}, {U'\U0001D410', CharClass::letter},
      {U'7', CharClass::number},        {U'\u0664', CharClass::number}, {U'\u2167', CharClass::number},
      {U'\u00BD', CharClass::number},   {U' ', CharClass::space},       {U'\t', CharClass::space},
      {U'\n', CharClass::space},        {U'\u0085', CharClass::space},  {U'\u00A0', CharClass::space},
      {U'\u3000', CharClass::space},    {U'\uFEFF', CharClass::other},  {U'\u200B', CharClass::other},
      {U'\u0301', CharClass::other},    {U'\u001C', CharClass::other},  {U'_', CharClass::other},
      {U'\U0001F999', CharClass::other}};
  for (const auto& [c, kind] : table) EXPECT_EQ(classify(c), kind) << static_cast<uint32_t>(c);
}

TEST(Unicode, NormalFormComposes) {
  EXPECT_EQ(normalize_nfc("Fu\u0308hrer"), "F\u00FChrer");
  EXPECT_EQ(normalize_nfc("e\u0323\u0301"), "\u1EB9\u0301");   // marks are put in order
  EXPECT_EQ(normalize_nfc("\u212B \uFB01"), "\u00C5 \uFB01");  // canonical, not compatibility
  EXPECT_EQ(normalize_nfc("\u1112\u1161\u11AB"), "\uD55C");
  EXPECT_EQ(normalize_nfc("ab e\u0301 \u4E16\u754C o\u0308\uAC00\u11A8."), "ab \u00E9 \u4E16\u754C \u00F6\uAC01.");
  EXPECT_EQ(normalize_nfc("\u0301e\u0301\u0301"), "\u0301\u00E9\u0301");
  EXPECT_EQ(normalize_nfc("\u0958"), "\u0915\u093C");  // excluded from composition
  EXPECT_FALSE(may_change_under_nfc("\u4E16\uAC00 \u0416 \U0001F999"));
  EXPECT_FALSE(may_change_under_nfc("caf\u00E9 \u02FF"));
  EXPECT_TRUE(may_change_under_nfc("cafe\u0301"));
}

TEST(Unicode, FollowsTheReferenceWhereItsUnicodeIsAnother) {
  EXPECT_EQ(classify(U'\u1C89'), CharClass::letter);
  EXPECT_EQ(classify(U'\U0002EBF0'), CharClass::letter);
  EXPECT_EQ(classify(U'\U00010D49'), CharClass::number);
  EXPECT_EQ(classify(U'\U00010D4A'), CharClass::letter);
  EXPECT_EQ(classify(U'\U00010D66'), CharClass::other);
  EXPECT_EQ(normalize_nfc("\U00011935\U00011930"), "\U00011935\U00011930");
  EXPECT_EQ(normalize_nfc("e\u0301\u0898\u0323"), "\u00E9\u0898\u0323");
  EXPECT_EQ(normalize_nfc("e\u0898\u0301\u0323"), "e\u0898\u0323\u0301");
}

TEST(Unicode, NormalFormOfManyMarksTakesNoQuadraticTime) {
  std::string marks;
  for (int i = 0; i < 200'000; ++i) marks += i % 2 == 0 ? "\u0301" : "\u0323";
  const std::string normal = normalize_nfc("\u00EA" + marks);
  EXPECT_EQ(normal.size(), marks.size() + 1);  // one dot below goes into the letter
  EXPECT_TRUE(normal.starts_with("\u1EC7\u0323\u0323"));
  EXPECT_TRUE(normal.ends_with("\u0301\u0301"));
}

}  // namespace
}  // namespace hone::text
