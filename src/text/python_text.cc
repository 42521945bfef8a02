#include "text/python_text.h"

#include "text/unicode.h"
#include "text/utf8.h"

namespace hone::text {

namespace {

// White_Space and the four separators U+001C to U+001F.
bool is_python_space(char32_t value) { return (value >= 0x1C && value <= 0x1F) || classify(value) == CharClass::space; }

}  // namespace

std::string_view python_strip(std::string_view text) {
  while (!text.empty()) {
    const CodePoint first = decode_code_point(text, 0);
    if (!is_python_space(first.value)) break;
    text.remove_prefix(first.size);
  }
  while (!text.empty()) {
    const size_t begin = code_point_before(text, text.size());
    if (!is_python_space(decode_code_point(text, begin).value)) break;
    text = text.substr(0, begin);
  }
  return text;
}

std::string_view python_lstrip(std::string_view text, std::string_view characters) {
  const size_t begin = text.find_first_not_of(characters);
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
}

std::string_view python_rstrip(std::string_view text, std::string_view characters) {
  return text.substr(0, text.find_last_not_of(characters) + 1);
}

std::string_view python_strip(std::string_view text, std::string_view characters) {
  return python_lstrip(python_rstrip(text, characters), characters);
}

}  // namespace hone::text
