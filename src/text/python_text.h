// Text as Python makes it, to the byte: what chat templates call str.strip() and json.dumps().
#pragma once

#include <string>
#include <string_view>

namespace hone::io {
class Json;
}

namespace hone::text {

// str.strip() without arguments: white space as str.isspace() knows it. `text` is valid UTF-8.
std::string_view python_strip(std::string_view text);
std::string_view python_strip(std::string_view text, std::string_view characters);  // ASCII
std::string_view python_lstrip(std::string_view text, std::string_view characters);
std::string_view python_rstrip(std::string_view text, std::string_view characters);

// json.dumps(value, ensure_ascii=False, indent=indent); indent below 0: one line.
std::string python_json(const io::Json& value, int indent = -1);
// repr() of a finite float.
std::string python_float(double value);

}  // namespace hone::text
