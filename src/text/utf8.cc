#include "text/utf8.h"

#include "core/error.h"

namespace hone::text {

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
