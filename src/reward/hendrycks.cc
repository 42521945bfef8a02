#include "reward/hendrycks.h"

#include <charconv>
#include <optional>

#include "reward/judgement.h"

namespace hone {

namespace {

// Bytes of one character of UTF-8 text, or 0 at its end.
size_t character(std::string_view text, size_t at) {
  if (at >= text.size()) return 0;
  size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return end - at;
}

// \sqrt3 is \sqrt{3}.
size_t brace_radicand(std::string_view rest, std::string& result) {
  if (rest.empty() || rest.front() == '{') return 0;
  const size_t size = character(rest, 0);
  result.append("{").append(rest.substr(0, size)).append("}");
  return size;
}

// \frac12 and \frac1{2} are \frac{1}{2}; a fraction that breaks off leaves the whole text as it is.
size_t brace_fraction(std::string_view rest, std::string& result) {
  if (rest.starts_with('{')) return 0;
  const size_t first = character(rest, 0), second = character(rest, first);
  if (second == 0) return std::string_view::npos;
  result.append("{").append(rest.substr(0, first)).append("}");
  if (rest[first] == '{') return first;
  result.append("{").append(rest.substr(first, second)).append("}");
  return first + second;
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return {};
  return std::to_string(value) == text ? std::optional(value) : std::nullopt;
}

// 3/4 of two whole numbers is \frac{3}{4}.
std::string with_fraction_for_slash(std::string text) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos || text.find('/', slash + 1) != std::string::npos) return text;
  const std::string above = text.substr(0, slash), below = text.substr(slash + 1);
  if (!whole_number(above) || !whole_number(below)) return text;
  return "\\frac{" + above + "}{" + below + "}";
}

}  // namespace

std::string hendrycks_form(std::string_view answer) {
  std::string text(answer);
  replace_every(text, "\n", "");
  replace_every(text, "\\!", "");
  replace_every(text, "\\\\", "\\");
  replace_every(text, "tfrac", "frac");
  replace_every(text, "dfrac", "frac");
  replace_every(text, "\\left", "");
  replace_every(text, "\\right", "");
  replace_every(text, "^{\\circ}", "");
  replace_every(text, "^\\circ", "");
  replace_every(text, "\\$", "");
  if (count_text(text, "\\text{ ") == 1) text.resize(text.find("\\text{ "));  // a unit
  replace_every(text, "\\%", "");
  replace_every(text, " .", " 0.");
  replace_every(text, "{.", "{0.");
  if (text.starts_with('.')) text.insert(0, "0");
  if (const size_t equals = text.find('='); equals <= 2 && count_text(text, "=") == 1) text.erase(0, equals + 1);  // x=
  text = with_arguments(text, "\\sqrt", brace_radicand);
  replace_every(text, " ", "");
  text = with_arguments(text, "\\frac", brace_fraction);
  if (text == "0.5") text = "\\frac{1}{2}";
  return with_fraction_for_slash(std::move(text));
}

}  // namespace hone
