// UTF-8: one code point at a time, where it is broken, and text of the outside world made fit for a message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hone::io {

struct CodePoint {
  char32_t value = 0;  // U+FFFD when the bytes are broken
  size_t size = 0;     // bytes taken; of broken bytes the maximal prefix that could have begun a code point, at least 1
  bool valid = false;
  bool cut = false;  // broken because the text ends too soon: more bytes could make it valid
};

// The code point at text[begin]; begin < text.size(). Overlong forms, surrogates and values above U+10FFFF are broken
// (Unicode 15, table 3-7).
CodePoint decode_code_point(std::string_view text, size_t begin);

// Its bytes, or 0 when it is broken.
size_t utf8_length(std::string_view text, size_t begin);

// Where the first byte stands that is not UTF-8, or npos.
size_t find_broken_utf8(std::string_view text);

// For messages: what a terminal would obey or hide is written out as \n, \x1b, \u202e: control characters, line and
// paragraph separators, marks of direction and of no width, broken bytes. The result is one line.
std::string visible(std::string_view text);
// The same, but line ends stay.
std::string visible_lines(std::string_view text);

}  // namespace hone::io
