// The byte alphabet of byte-level tokenizers: each byte has one printable character that stands for it in
// tokenizer.json. Bytes 33-126, 161-172 and 174-255 are the code points of the same number; the other 68 follow from
// U+0100 in increasing order.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hone::text {

// The character that stands for a byte, in UTF-8.
std::string byte_character(unsigned char byte);
// The bytes that `characters` stand for; nothing when one of them is not of the alphabet (or the UTF-8 is broken).
std::optional<std::string> from_byte_characters(std::string_view characters);

}  // namespace hone::text
