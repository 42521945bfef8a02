// Forms that an answer can be asked to have, whatever is in it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace hone {

enum class Format {
  boxed,         // a \boxed{...} that closes
  hashes,        // "#### " and a digit
  answer_line,   // "Answer:" and something on its line
  think_boxed,   // <think>...</think>...\boxed{...} from the beginning (verl's geo3k)
  think_answer,  // <think>...</think> <answer>...</answer>, each once, and nothing else
};

std::optional<Format> find_format(std::string_view name);
std::vector<std::string_view> format_names();
bool has_format(std::string_view text, Format format);

}  // namespace hone
