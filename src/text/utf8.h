// UTF-8: one code point at a time, and the replacement of what is broken. No tables, no allocation but the result.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hone::text {

struct CodePoint {
  char32_t value = 0;  // U+FFFD when the bytes are broken
  size_t size = 0;     // bytes taken; of broken bytes the maximal prefix that could have begun a code point, at least 1
  bool valid = false;
  bool cut = false;  // broken because the text ends too soon: more bytes could make it valid
};

// The code point at text[begin]; begin < text.size(). Overlong forms, surrogates and values above U+10FFFF are broken.
CodePoint decode_code_point(std::string_view text, size_t begin);

// Where the code point begins that ends at `end` > 0; `text` is valid UTF-8.
size_t code_point_before(std::string_view text, size_t end);

// Where the incomplete code point at the end of `bytes` begins; its size when there is none.
size_t complete_size(std::string_view bytes);

// `value` must be a code point that UTF-8 can hold.
void append_code_point(std::string& text, char32_t value);

// Each maximal broken prefix becomes one U+FFFD (Unicode 15, section 3.9, "substitution of maximal subparts").
std::string replace_invalid_utf8(std::string_view bytes);

}  // namespace hone::text
