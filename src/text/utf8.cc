#include "text/utf8.h"

#include "core/error.h"

namespace hone::text {

size_t code_point_before(std::string_view text, size_t end) {
  do --end;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
  return end;
}

size_t complete_size(std::string_view bytes) {
  // A code point has at most 4 bytes, and only its first is no continuation.
  for (size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const size_t begin = bytes.size() - back;
    if ((static_cast<unsigned char>(bytes[begin]) & 0xC0) == 0x80) continue;
    const CodePoint point = decode_code_point(bytes, begin);
    return point.cut ? begin : bytes.size();
  }
  return bytes.size();
}

void append_code_point(std::string& text, char32_t value) {
  HONE_CHECK(value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF), "U+{:04X} is no code point",
             static_cast<uint32_t>(value));
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0 | (value >> 6));
    put(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    put(0xE0 | (value >> 12));
    put(0x80 | ((value >> 6) & 0x3F));
    put(0x80 | (value & 0x3F));
  } else {
    put(0xF0 | (value >> 18));
    put(0x80 | ((value >> 12) & 0x3F));
    put(0x80 | ((value >> 6) & 0x3F));
    put(0x80 | (value & 0x3F));
  }
}

std::string replace_invalid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (size_t i = 0; i < bytes.size();) {
    const CodePoint point = decode_code_point(bytes, i);
    if (point.valid) {
      text.append(bytes.substr(i, point.size));
    } else {
      append_code_point(text, 0xFFFD);
    }
    i += point.size;
  }
  return text;
}

}  // namespace hone::text
