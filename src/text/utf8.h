// UTF-8 of text that becomes ids and back: steps over code points, writing them, the replacement of what is broken.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "io/utf8.h"

namespace hone::text {

using io::CodePoint;
using io::decode_code_point;

// Where the code point begins that ends at `end` > 0; `text` is valid UTF-8.
size_t code_point_before(std::string_view text, size_t end);

// Where the incomplete code point at the end of `bytes` begins; its size when there is none.
size_t complete_size(std::string_view bytes);

// `value` must be a code point that UTF-8 can hold.
void append_code_point(std::string& text, char32_t value);

// Each maximal broken prefix becomes one U+FFFD (Unicode 15, section 3.9, "substitution of maximal subparts").
std::string replace_invalid_utf8(std::string_view bytes);

}  // namespace hone::text
