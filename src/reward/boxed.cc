#include "reward/boxed.h"

#include <algorithm>

#include "reward/judgement.h"

namespace hone {

namespace {

// What stands between the brace at `open` and the one that closes it.
Box read_braces(std::string_view text, size_t open) {
  int64_t depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}' && --depth == 0) {
      return {text.substr(open + 1, i - open - 1)};
    }
  }
  return {{}, false};
}

std::optional<Box> find_box(std::string_view text, std::string_view command) {
  for (size_t at = rfind_text(text, command, command.find('x')); at != std::string_view::npos;
       at = rfind_text(text.substr(0, at + command.size() - 1), command, command.find('x'))) {
    const size_t begin = at + command.size();
    const size_t next = std::min(text.find_first_not_of(" \t\n", begin), text.size());
    if (next < text.size() && text[next] == '{') return read_braces(text, next);
    if (next == text.size()) return Box{{}, false};
    if (next > begin) {  // \boxed 5
      const size_t end = std::min(text.find_first_of("$\n", next), text.size());
      return Box{text.substr(next, end - next)};
    }
    // \boxedx is another command
  }
  return {};
}

}  // namespace

std::optional<Box> find_last_box(std::string_view text) {
  if (const auto box = find_box(text, "\\boxed")) return box;
  return find_box(text, "\\fbox");
}

}  // namespace hone
