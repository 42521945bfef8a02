#include "text/added_tokens.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace hone::text {
namespace {

// Parts as text, tokens as {id|text they took}.
std::string describe(const AddedTokenMatcher& matcher, std::string_view text, bool allow_special = true) {
  std::string parts;
  for (const auto& part : matcher.split(text, allow_special)) {
    const auto taken = text.substr(part.begin, part.end - part.begin);
    parts += part.id < 0 ? fmt::format("[{}]", taken) : fmt::format("{{{}|{}}}", part.id, taken);
  }
  return parts;
}

TEST(AddedTokens, LeftmostThenLongest) {
  const AddedTokenMatcher matcher(
      {{.id = 1, .content = "<a>"}, {.id = 2, .content = "<a><b>"}, {.id = 3, .content = "x"}});
  EXPECT_EQ(describe(matcher, "<a><a><b>x<b>"), "{1|<a>}{2|<a><b>}{3|x}[<b>]");
  EXPECT_EQ(describe(matcher, "<<a>"), "[<]{1|<a>}");
  EXPECT_EQ(describe(matcher, "<a"), "[<a]");
  EXPECT_EQ(describe(matcher, ""), "");
  EXPECT_EQ(describe(AddedTokenMatcher(), "<a>"), "[<a>]");
}

TEST(AddedTokens, WhiteSpaceBesideIsSwallowedOnce) {
  const AddedTokenMatcher left({{.id = 1, .content = "<a>", .lstrip = true}});
  EXPECT_EQ(describe(left, "x \n\u3000<a> y"), "[x]{1| \n\u3000<a>}[ y]");
  EXPECT_EQ(describe(left, "  <a>  <a>"), "{1|  <a>}{1|  <a>}");
  const AddedTokenMatcher right({{.id = 1, .content = "<a>", .rstrip = true}});
  EXPECT_EQ(describe(right, "x <a> \t\u00A0y"), "[x ]{1|<a> \t\u00A0}[y]");
  const AddedTokenMatcher both({{.id = 1, .content = "<a>", .lstrip = true, .rstrip = true}});
  EXPECT_EQ(describe(both, " <a>  <a> "), "{1| <a>  }{1|<a> }");
}

TEST(AddedTokens, ASingleWordStandsAlone) {
  const AddedTokenMatcher matcher({{.id = 1, .content = "ab", .single_word = true}});
  for (const char* text : {"ab", "-ab-", " ab ", "\U0001F999ab\u3002"}) {
    EXPECT_NE(describe(matcher, text).find("{1|ab}"), std::string::npos) << text;
  }
  for (const char* text : {"abc", "cab", "ab1", "_ab", "ab\u0301", "\u4E16ab", "ab\u200D", "ab\u24B6"}) {
    EXPECT_EQ(describe(matcher, text), fmt::format("[{}]", text));
  }
}

TEST(AddedTokens, WithoutSpecialTokensTheirContentIsText) {
  const AddedTokenMatcher matcher({{.id = 1, .content = "<a>", .special = true}, {.id = 2, .content = "<b>"}});
  EXPECT_EQ(describe(matcher, "<a><b>", false), "[<a>]{2|<b>}");
  EXPECT_EQ(describe(matcher, "<a><b>", true), "{1|<a>}{2|<b>}");
}

TEST(AddedTokens, TakesTimeLinearInTheLength) {
  const std::string spaces(1'000'000, ' ');
  const AddedTokenMatcher matcher(
      {{.id = 1, .content = " ", .rstrip = true}, {.id = 2, .content = "<a>", .lstrip = true}});
  EXPECT_EQ(matcher.split(spaces, true).size(), spaces.size());
  std::vector<AddedToken> many;
  for (int32_t i = 0; i < 256; ++i) many.push_back({.id = i, .content = fmt::format("<|reserved_{}|>", i)});
  EXPECT_EQ(AddedTokenMatcher(many).split(std::string(1'000'000, '<'), true).size(), 1u);
}

}  // namespace
}  // namespace hone::text
