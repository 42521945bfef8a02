// What tokenizers ask of Unicode: the class of a code point, whether it is part of a word, and normal form C. utf8proc
// stays behind this file.
#pragma once

#include <string>
#include <string_view>

namespace hone::text {

// Letter: general category L*. Number: N*. Space: property White_Space. Combining marks are `other`.
enum class CharClass : unsigned char { letter, number, space, other };
CharClass classify(char32_t value);
constexpr CharClass classify_ascii(unsigned char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return CharClass::letter;
  if (c >= '0' && c <= '9') return CharClass::number;
  return c == ' ' || (c >= '\t' && c <= '\r') ? CharClass::space : CharClass::other;
}

// \w of UTS #18: alphabetic, mark, decimal number, connector punctuation, or join control.
bool is_word_character(char32_t value);

// Normal form C; `utf8` must be valid. Only the stretches that can change are worked on.
std::string normalize_nfc(std::string_view utf8);
// False only when the text is certainly in normal form C already.
bool may_change_under_nfc(std::string_view utf8);

}  // namespace hone::text
