// str.strip() and its relatives as Python has them, for what chat templates print.
#pragma once

#include <string_view>

namespace hone::text {

// str.strip() without arguments: white space as str.isspace() knows it. `text` is valid UTF-8.
std::string_view python_strip(std::string_view text);
std::string_view python_strip(std::string_view text, std::string_view characters);  // ASCII
std::string_view python_lstrip(std::string_view text, std::string_view characters);
std::string_view python_rstrip(std::string_view text, std::string_view characters);

}  // namespace hone::text
