#include "text/pre_pattern.h"

#include <array>

#include "text/unicode.h"
#include "text/utf8.h"

namespace hone::text {

namespace {

constexpr char32_t kLongS = 0x17F;  // folds to s, so the pattern's (?i) takes it for one
constexpr size_t kUnbounded = SIZE_MAX;

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
size_t run_end(std::string_view text, size_t begin, CharClass kind, size_t max_chars = kUnbounded) {
  size_t end = begin;
  for (; end < text.size() && max_chars != 0; --max_chars) {
    const Char c = char_at(text, end);
    if (c.kind != kind) break;
    end = c.end;
  }
  return end;
}

size_t newlines_end(std::string_view text, size_t end) {
  while (end < text.size() && is_newline(static_cast<unsigned char>(text[end]))) ++end;
  return end;
}

// 's 't 'm 'd 're 've 'll; returns `begin` when there is none.
size_t contraction_end(std::string_view text, size_t begin, bool any_case) {
  if (text[begin] != '\'' || begin + 1 >= text.size()) return begin;
  const auto letter = [&](size_t i) { return any_case ? static_cast<char>(text[i] | 0x20) : text[i]; };
  const char first = letter(begin + 1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return begin + 2;
  if (begin + 2 >= text.size()) return begin;
  const char second = letter(begin + 2);
  if ((first == 'r' || first == 'v') && second == 'e') return begin + 3;
  if (first == 'l' && second == 'l') return begin + 3;
  if (!any_case) return begin;
  const Char c = char_at(text, begin + 1);
  return c.value == kLongS ? c.end : begin;
}

// \s+(?!\S) | \s+ over the whole run of white space that begins at `begin`; with `newlines` \s*[\r\n]+ comes first.
size_t white_space_end(std::string_view text, size_t begin, bool newlines) {
  size_t end = begin, last_begin = begin, after_newline = begin;
  while (end < text.size()) {
    const Char c = char_at(text, end);
    if (c.kind != CharClass::space) break;
    last_begin = end;
    end = c.end;
    if (newlines && is_newline(c.value)) after_newline = end;
  }
  if (after_newline > begin) return after_newline;
  if (end == text.size() || last_begin == begin) return end;
  return last_begin;
}

size_t words_end(PrePattern pattern, std::string_view text, size_t begin) {
  const size_t contraction = contraction_end(text, begin, true);
  if (contraction > begin) return contraction;
  const Char first = char_at(text, begin);
  if (first.kind == CharClass::letter) return run_end(text, first.end, CharClass::letter);
  if (first.kind == CharClass::number) return run_end(text, first.end, CharClass::number, pattern.max_numbers - 1);
  if (!is_newline(first.value)) {
    const size_t letters = run_end(text, first.end, CharClass::letter);
    if (letters > first.end) return letters;
  }
  const size_t others_begin = first.value == ' ' ? first.end : begin;
  const size_t others = run_end(text, others_begin, CharClass::other);
  return others > others_begin ? newlines_end(text, others) : white_space_end(text, begin, true);
}

size_t gpt2_end(std::string_view text, size_t begin) {
  const size_t contraction = contraction_end(text, begin, false);
  if (contraction > begin) return contraction;
  const size_t run_begin = text[begin] == ' ' ? begin + 1 : begin;
  if (run_begin < text.size()) {
    const Char first = char_at(text, run_begin);
    if (first.kind != CharClass::space) return run_end(text, first.end, first.kind);
  }
  return white_space_end(text, begin, false);
}

}  // namespace

std::optional<PrePattern> find_pre_pattern(std::string_view regex) {
  using Kind = PrePattern::Kind;
  if (regex == kQwenRegex) return PrePattern{Kind::words, 1};
  if (regex == kLlama3Regex) return PrePattern{Kind::words, 3};
  if (regex == kGpt2Regex) return PrePattern{Kind::gpt2, 0};
  if (regex == "\\p{N}") return PrePattern{Kind::numbers, 1};
  if (regex == "\\p{N}+") return PrePattern{Kind::numbers, 0};
  if (regex == "\\p{N}{1,3}") return PrePattern{Kind::numbers, 3};
  return {};
}

size_t next_match(PrePattern pattern, std::string_view text, size_t begin) {
  if (pattern.kind != PrePattern::Kind::numbers) return begin;
  while (begin < text.size()) {
    const Char c = char_at(text, begin);
    if (c.kind == CharClass::number) break;
    begin = c.end;
  }
  return begin;
}

size_t match_end(PrePattern pattern, std::string_view text, size_t begin) {
  switch (pattern.kind) {
    case PrePattern::Kind::words:
      return words_end(pattern, text, begin);
    case PrePattern::Kind::gpt2:
      return gpt2_end(text, begin);
    case PrePattern::Kind::numbers:
      break;
  }
  return run_end(text, begin, CharClass::number, pattern.max_numbers == 0 ? kUnbounded : pattern.max_numbers);
}

}  // namespace hone::text
