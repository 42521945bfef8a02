#include "text/pre_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace hone::text {
namespace {

std::string cut(PrePattern pattern, std::string_view text) {
  std::string pieces;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = match_end(pattern, text, begin);
    EXPECT_GT(end, begin);
    if (begin > 0) pieces += "|";
    pieces += text.substr(begin, end - begin);
    begin = end;
  }
  return pieces;
}

TEST(PrePattern, CutsAsTheRegexDoes) {
  const std::pair<std::string, std::string> table[] = {
      {"Hello world!", "Hello| world|!"},
      {"don't we'LL it'S 'hello 'tis", "don|'t| we|'LL| it|'S| '|hello| '|tis"},
      {"'", "'"},
      {"'r", "'r"},
      {"x'\u017Fs", "x|'\u017F|s"},
      {"'hello", "'hello"},
      {"12345", "1|2|3|4|5"},
      {"a1b22", "a|1|b|2|2"},
      {" 42", " |4|2"},
      {"  42", " | |4|2"},
      {"foo(bar)  == \"x\"", "foo|(bar|)| | ==| \"|x|\""},
      {"a  b", "a| | b"},
      {"a   ", "a|   "},
      {"a\n\n  b", "a|\n\n| | b"},
      {" \n \n x", " \n \n| x"},
      {"end.\r\n\r\nnew", "end|.\r\n\r\n|new"},
      {"\tx", "\tx"},
      {"\t\tx", "\t|\tx"},
      {"\nx", "\n|x"},
      {"_private", "_private"},
      {"$x_1", "$x|_|1"},
      {"e\u0301a", "e|\u0301a"},
      {"\u4E16\u754C\u3002", "\u4E16\u754C|\u3002"},
      {"a\u00A0b", "a|\u00A0b"},
      {"\u3000\u3000b", "\u3000|\u3000b"},
      {"\U0001F3F3\uFE0F\u200D\U0001F308x", "\U0001F3F3\uFE0F\u200D\U0001F308|x"},
      {"\u2167\u00BD", "\u2167|\u00BD"},
  };
  for (const auto& [text, pieces] : table) EXPECT_EQ(cut({}, text), pieces);
  EXPECT_EQ(cut({.max_numbers = 3}, "1234567 12"), "123|456|7| |12");
}

TEST(PrePattern, Gpt2CutsAsItsRegexDoes) {
  const PrePattern gpt2 = *find_pre_pattern(kGpt2Regex);
  const std::pair<std::string, std::string> table[] = {
      {"Hello world!", "Hello| world|!"},
      {"don't we'LL it'S 'hello", "don|'t| we|'|LL| it|'|S| '|hello"},
      {"12345 678", "12345| 678"},
      {"a1b", "a|1|b"},
      {"  42", " | 42"},
      {"a\n\n  b", "a|\n\n | b"},
      {"end.\r\nnew", "end|.|\r|\n|new"},
      {"\tx", "\t|x"},
      {"a   ", "a|   "},
      {" ", " "},
      {"e\u0301a", "e|\u0301|a"},
      {"\u00A0b", "\u00A0|b"},
      {"x  !y", "x| | !|y"},
  };
  for (const auto& [text, pieces] : table) EXPECT_EQ(cut(gpt2, text), pieces);
}

TEST(PrePattern, KnowsItsPatternsOnly) {
  EXPECT_EQ(find_pre_pattern(kQwenRegex)->max_numbers, 1u);
  EXPECT_EQ(find_pre_pattern(kLlama3Regex)->max_numbers, 3u);
  EXPECT_FALSE(find_pre_pattern(""));
  EXPECT_FALSE(find_pre_pattern("\\p{L}+"));
  EXPECT_FALSE(find_pre_pattern(std::string(kQwenRegex) + "|x"));
}

TEST(PrePattern, TakesTimeLinearInTheLength) {
  for (const std::string_view regex : {kQwenRegex, kLlama3Regex, kGpt2Regex}) {
    for (const std::string unit : {" ", "\n", " \n", "a", "'", "!", " !", "\u0301", "1"}) {
      std::string text;
      while (text.size() < 1'000'000) text += unit;
      size_t begin = 0;
      while (begin < text.size()) begin = match_end(*find_pre_pattern(regex), text, begin);
      EXPECT_EQ(begin, text.size());
    }
  }
}

}  // namespace
}  // namespace hone::text
