#include "reward/minerva.h"

#include <algorithm>
#include <utility>

#include "reward/judgement.h"
#include "reward/thousands.h"

namespace hone {

namespace {

constexpr std::pair<std::string_view, std::string_view> kReplaced[] = {
    {"an ", ""}, {"a ", ""},       {".$", "$"},           {"\\$", ""},          {"\\ ", ""},
    {" ", ""},   {"mbox", "text"}, {",\\text{and}", ","}, {"\\text{and}", ","}, {"\\text{m}", "\\text{}"},
};

// In this order: what one of them leaves can be another.
constexpr std::string_view kRemoved[] = {
    "square",     "ways",       "integers",  "dollars",      "mph",
    "inches",     "hours",      "km",        "units",        "\\ldots",
    "sue",        "points",     "feet",      "minutes",      "digits",
    "cents",      "degrees",    "cm",        "gm",           "pounds",
    "meters",     "meals",      "edges",     "students",     "childrentickets",
    "multiples",  "\\text{s}",  "\\text{.}", "\\text{\ns}",  "\\text{}^2",
    "\\text{}^3", "\\text{\n}", "\\text{}",  "\\mathrm{th}", "^\\circ",
    "^{\\circ}",  "\\;",        ",\\!",      "{,}",          "\"",
    "\\dots",
};

// Of a text with two dollar signs, what stands between the first two.
void keep_between_dollars(std::string& text) {
  const size_t first = text.find('$');
  const size_t second = first == std::string::npos ? first : text.find('$', first + 1);
  if (second != std::string::npos) text = text.substr(first + 1, second - first - 1);
}

// Every "\text{...}" becomes what stands before the next closing brace.
void unwrap_every(std::string& text, std::string_view opening) {
  std::string result;
  size_t begin = 0;
  for (size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, begin)) {
    const size_t end = text.find('}', at);
    if (end == std::string::npos) break;
    result.append(text, begin, at - begin).append(text, at + opening.size(), end - at - opening.size());
    begin = end + 1;
  }
  text = result.append(text, begin);
}

// From the first "\boxed{" to the last closing brace.
void unwrap_box(std::string& text) {
  constexpr std::string_view kBox = "\\boxed{";
  const size_t at = text.find(kBox), end = text.rfind('}');
  if (at == std::string::npos || end == std::string::npos || end < at + kBox.size()) return;
  text.erase(end, 1);
  text.erase(at, kBox.size());
}

// frac12 becomes frac{1}{2}, sqrt3 sqrt{3}.
template <size_t kArguments>
size_t brace_bytes(std::string_view rest, std::string& result) {
  if (rest.size() < kArguments || rest.front() == '{') return 0;
  for (size_t i = 0; i < kArguments; ++i) (result += '{').append(1, rest[i]).append(1, '}');
  return kArguments;
}

}  // namespace

std::string minerva_form(std::string_view answer) {
  std::string text(answer.substr(answer.rfind('=') + 1));
  for (const auto& [from, to] : kReplaced) replace_every(text, from, to);
  for (const std::string_view removed : kRemoved) replace_every(text, removed, "");
  keep_between_dollars(text);
  for (const char* opening : {"\\text{", "\\textbf{", "\\overline{"}) unwrap_every(text, opening);
  unwrap_box(text);
  text = with_arguments(text, "frac", brace_bytes<2>);
  text = with_arguments(text, "sqrt", brace_bytes<1>);
  replace_every(text, "$", "");
  std::string_view number = trimmed(text);
  if (number.ends_with(',') && number.find_first_not_of("0123456789,") == std::string_view::npos)
    number.remove_suffix(1);
  return without_thousands(number);
}

}  // namespace hone
