// UTF-8 as files hold it: where it is broken, and text of the outside world made fit for a message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hone::io {

// Bytes of the sequence that begins at text[begin], or 0 when it is broken (Unicode 15, table 3-7: no overlong forms,
// no surrogates, nothing above U+10FFFF).
size_t utf8_length(std::string_view text, size_t begin);

// Where the first byte stands that is not UTF-8, or npos.
size_t find_broken_utf8(std::string_view text);

// For messages: what a terminal would obey or hide is written out as \n, \x1b, \u202e: control characters, line and
// paragraph separators, marks of direction and of no width, broken bytes. The result is one line.
std::string visible(std::string_view text);
// The same, but line ends stay.
std::string visible_lines(std::string_view text);

}  // namespace hone::io
