#include "io/utf8.h"

#include <fmt/core.h>

#include <cstdint>
#include <cstring>

namespace hone::io {
namespace {

// What may follow a lead byte: number of continuation bytes, and the range of the first of them (Unicode 15, table
// 3-7).
struct Lead {
  int continuations;
  unsigned char low, high;
};
Lead classify_lead(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1, 0x80, 0xBF};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2, 0x80, 0xBF};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {3, 0x80, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {0, 0, 0};
}

// Characters that move the cursor, change the direction or cannot be seen. The zero-width joiners U+200C and U+200D
// stay: they are part of emoji and of words.
bool is_hidden(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0xad || c == 0x61c || c == 0x200b || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

void append_escape(std::string& out, char32_t c) {
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else if (c < 0x80) {
    out += fmt::format("\\x{:02x}", static_cast<uint32_t>(c));
  } else {
    out += fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
  }
}

std::string escaped(std::string_view text, bool keep_line_ends) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = decode_code_point(text, i);
    if (!point.valid) {
      for (const char byte : text.substr(i, point.size)) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    } else if (is_hidden(point.value) && !(keep_line_ends && point.value == '\n')) {
      append_escape(out, point.value);
    } else {
      out.append(text, i, point.size);
    }
    i += point.size;
  }
  return out;
}

}  // namespace

CodePoint decode_code_point(std::string_view text, size_t begin) {
  const auto first = static_cast<unsigned char>(text[begin]);
  if (first < 0x80) return {first, 1, true};
  const Lead lead = classify_lead(first);
  if (lead.continuations == 0) return {0xFFFD, 1, false};
  char32_t value = first & (0x3Fu >> lead.continuations);
  for (int k = 1; k <= lead.continuations; ++k) {
    const size_t i = begin + static_cast<size_t>(k);
    if (i >= text.size()) return {0xFFFD, static_cast<size_t>(k), false, true};
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned char low = k == 1 ? lead.low : 0x80, high = k == 1 ? lead.high : 0xBF;
    if (byte < low || byte > high) return {0xFFFD, static_cast<size_t>(k), false};
    value = (value << 6) | (byte & 0x3Fu);
  }
  return {value, static_cast<size_t>(lead.continuations) + 1, true};
}

size_t utf8_length(std::string_view text, size_t begin) {
  const CodePoint point = decode_code_point(text, begin);
  return point.valid ? point.size : 0;
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
