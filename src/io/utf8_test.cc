#include "io/utf8.h"

#include <gtest/gtest.h>

namespace hone::io {
namespace {

TEST(Utf8, WhatATerminalWouldObeyOrHideIsWrittenOut) {
  struct Case {
    std::string text, shown;
  };
  const Case cases[] = {
      {"plain text, \"quotes\" and \\ stay", "plain text, \"quotes\" and \\ stay"},
      {"gr\xc3\xb6\xc3\x9f"
       "e \xe4\xbd\xa0 \xf0\x9f\xa6\x99",
       "gr\xc3\xb6\xc3\x9f"
       "e \xe4\xbd\xa0 \xf0\x9f\xa6\x99"},
      {"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80"},  // joined emoji
      {std::string("a\0b", 3), "a\\x00b"},
      {"line\nerror: forged", "line\\nerror: forged"},
      {"back\rover", "back\\rover"},
      {"\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"},
      {"tab\tdel\x7f", "tab\\tdel\\x7f"},
      {"\xc2\x9b"
       "31m",
       "\\u009b31m"},  // the C1 form of ESC [
      {"abc\xe2\x80\xae"
       "def",
       "abc\\u202edef"},  // writes what follows from right to left
      {"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\x8b\xef\xbb\xbf", "\\u2028\\u2029\\u200b\\ufeff"},
      {"\xff\xc0\x80\xed\xa0\x80", "\\xff\\xc0\\x80\\xed\\xa0\\x80"},
      {"cut \xf0\x9f\xa6", "cut \\xf0\\x9f\\xa6"},
  };
  for (const Case& c : cases) EXPECT_EQ(visible(c.text), c.shown);
  EXPECT_EQ(visible_lines("a\nb\r\n\x1b"), "a\nb\\r\n\\x1b");
}

}  // namespace
}  // namespace hone::io
