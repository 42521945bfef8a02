#include "text/pre_tokenizer.h"

#include <array>

#include "text/unicode.h"
#include "text/utf8.h"

namespace hone::text {

namespace {

constexpr char32_t kLongS = 0x17F;  // folds to s, so the pattern's (?i) takes it for one

struct Char {
  char32_t value = 0;
  CharClass kind = CharClass::other;
  size_t end = 0;
};

constexpr auto kAsciiClass = [] {
  std::array<CharClass, 0x80> table{};
  for (size_t c = 0; c < table.size(); ++c) table[c] = classify_ascii(static_cast<unsigned char>(c));
  return table;
}();

Char char_at(std::string_view text, size_t begin) {
  const auto byte = static_cast<unsigned char>(text[begin]);
  if (byte < 0x80) return {byte, kAsciiClass[byte], begin + 1};
  const CodePoint point = decode_code_point(text, begin);
  return {point.value, classify(point.value), begin + point.size};
}

bool is_newline(char32_t c) { return c == '\r' || c == '\n'; }

// End of the run of `kind` that begins at `begin` (which may be empty), of at most `max_chars`.
size_t run_end(std::string_view text, size_t begin, CharClass kind, int max_chars = -1) {
  size_t end = begin;
  for (; end < text.size() && max_chars != 0; --max_chars) {
    const Char c = char_at(text, end);
    if (c.kind != kind) break;
    end = c.end;
  }
  return end;
}

// 's 't 'm 'd 're 've 'll in either case; returns `begin` when there is none.
size_t contraction_end(std::string_view text, size_t begin) {
  if (text[begin] != '\'' || begin + 1 >= text.size()) return begin;
  const auto lower = [](char c) { return static_cast<char>(c | 0x20); };
  const char first = lower(text[begin + 1]);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return begin + 2;
  if (begin + 2 >= text.size()) return begin;
  const char second = lower(text[begin + 2]);
  if ((first == 'r' || first == 'v') && second == 'e') return begin + 3;
  if (first == 'l' && second == 'l') return begin + 3;
  const Char c = char_at(text, begin + 1);
  return c.value == kLongS ? c.end : begin;
}

// \s*[\r\n]+ | \s+(?!\S) | \s+ over the whole run of white space that begins at `begin`.
size_t white_space_end(std::string_view text, size_t begin) {
  size_t end = begin, last_begin = begin, after_newline = begin;
  while (end < text.size()) {
    const Char c = char_at(text, end);
    if (c.kind != CharClass::space) break;
    last_begin = end;
    end = c.end;
    if (is_newline(c.value)) after_newline = end;
  }
  if (after_newline > begin) return after_newline;
  if (end == text.size() || last_begin == begin) return end;
  return last_begin;
}

}  // namespace

std::optional<PrePattern> find_pre_pattern(std::string_view regex) {
  if (regex == kQwenRegex) return PrePattern{.max_digits = 1};
  if (regex == kLlama3Regex) return PrePattern{.max_digits = 3};
  return {};
}

size_t piece_end(PrePattern pattern, std::string_view text, size_t begin) {
  const size_t contraction = contraction_end(text, begin);
  if (contraction > begin) return contraction;

  const Char first = char_at(text, begin);
  if (first.kind == CharClass::letter) return run_end(text, first.end, CharClass::letter);
  if (first.kind == CharClass::number) return run_end(text, first.end, CharClass::number, pattern.max_digits - 1);
  if (!is_newline(first.value)) {
    const size_t letters = run_end(text, first.end, CharClass::letter);
    if (letters > first.end) return letters;
  }
  const size_t others_begin = first.value == ' ' ? first.end : begin;
  size_t end = run_end(text, others_begin, CharClass::other);
  if (end > others_begin) {
    while (end < text.size() && is_newline(static_cast<unsigned char>(text[end]))) ++end;
    return end;
  }
  return white_space_end(text, begin);
}

}  // namespace hone::text
