#include "text/byte_alphabet.h"

#include <array>

#include "text/utf8.h"

namespace hone::text {

namespace {
constexpr int kAlphabetEnd = 0x144;  // 256 + 68

struct Alphabet {
  std::array<char32_t, 256> character{};
  std::array<int, kAlphabetEnd> byte{};  // -1: no byte
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.byte.fill(-1);
  char32_t next = 0x100;
  for (int b = 0; b < 256; ++b) {
    const bool itself = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    const char32_t c = itself ? static_cast<char32_t>(b) : next++;
    alphabet.character[static_cast<size_t>(b)] = c;
    alphabet.byte[c] = b;
  }
  return alphabet;
}
constexpr Alphabet kAlphabet = make_alphabet();
}  // namespace

std::string byte_character(unsigned char byte) {
  std::string text;
  append_code_point(text, kAlphabet.character[byte]);
  return text;
}

std::optional<std::string> from_byte_characters(std::string_view characters) {
  std::string bytes;
  for (size_t i = 0; i < characters.size();) {
    const CodePoint point = decode_code_point(characters, i);
    if (!point.valid || point.value >= kAlphabetEnd || kAlphabet.byte[point.value] < 0) return {};
    bytes += static_cast<char>(kAlphabet.byte[point.value]);
    i += point.size;
  }
  return bytes;
}

}  // namespace hone::text
