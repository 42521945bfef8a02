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

// All leads with all second bytes, and each of them cut.
TEST(Utf8, LengthsAreThoseOfWellFormedSequences) {
  for (unsigned lead = 0; lead < 256; ++lead) {
    for (unsigned second = 0; second < 256; ++second) {
      size_t length = 0;
      if (lead < 0x80) length = 1;
      if (lead >= 0xc2 && lead <= 0xdf) length = 2;
      if (lead >= 0xe0 && lead <= 0xef) length = 3;
      if (lead >= 0xf0 && lead <= 0xf4) length = 4;
      const bool follows = second >= (lead == 0xe0   ? 0xa0u
                                      : lead == 0xf0 ? 0x90u
                                                     : 0x80u) &&
                           second <= (lead == 0xed   ? 0x9fu
                                      : lead == 0xf4 ? 0x8fu
                                                     : 0xbfu);
      if (length > 1 && !follows) length = 0;
      std::string text{static_cast<char>(lead), static_cast<char>(second), '\x80', '\x80'};
      EXPECT_EQ(utf8_length(text, 0), length) << lead << " " << second;
      EXPECT_EQ(find_broken_utf8(text.substr(0, std::max<size_t>(length, 1))), length == 0 ? 0 : std::string::npos);
      for (size_t size = 1; size < length; ++size) {
        EXPECT_EQ(utf8_length(std::string_view(text).substr(0, size), 0), 0u) << lead << " " << second;
        EXPECT_TRUE(decode_code_point(std::string_view(text).substr(0, size), 0).cut);
      }
    }
  }
}

}  // namespace
}  // namespace hone::io
