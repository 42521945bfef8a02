#include "io/utf8.h"

#include <fmt/core.h>

#include <cstdint>
#include <cstring>

namespace hone::io {
namespace {

uint32_t code_point(std::string_view text, size_t begin, size_t length) {
  constexpr uint32_t kFirstBits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  uint32_t value = static_cast<unsigned char>(text[begin]) & kFirstBits[length];
  for (size_t i = 1; i < length; ++i) value = value << 6 | (static_cast<unsigned char>(text[begin + i]) & 0x3fu);
  return value;
}

// Characters that move the cursor, change the direction or cannot be seen. The zero-width joiners U+200C and U+200D
// stay: they are part of emoji and of words.
bool is_hidden(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0xad || c == 0x61c || c == 0x200b || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

void append_escape(std::string& out, uint32_t c) {
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else if (c < 0x80) {
    out += fmt::format("\\x{:02x}", c);
  } else {
    out += fmt::format("\\u{:04x}", c);
  }
}

std::string escaped(std::string_view text, bool keep_line_ends) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text, i);
    if (length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
      ++i;
      continue;
    }
    const uint32_t c = code_point(text, i, length);
    if (is_hidden(c) && !(keep_line_ends && c == '\n')) {
      append_escape(out, c);
    } else {
      out.append(text, i, length);
    }
    i += length;
  }
  return out;
}

}  // namespace

size_t utf8_length(std::string_view text, size_t begin) {
  const auto byte = [&](size_t k) {
    return begin + k < text.size() ? static_cast<unsigned char>(text[begin + k]) : 0u;
  };
  const auto follows = [&](size_t k, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(k) >= low && byte(k) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool second = follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf);
    return second && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool second = follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

size_t find_broken_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    uint64_t eight;  // a stretch of ASCII, eight bytes at a time
    if (i + 8 <= text.size() && (std::memcpy(&eight, text.data() + i, 8), (eight & 0x8080808080808080u) == 0)) {
      i += 8;
      continue;
    }
    const size_t length = utf8_length(text, i);
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string visible(std::string_view text) { return escaped(text, false); }
std::string visible_lines(std::string_view text) { return escaped(text, true); }

}  // namespace hone::io
