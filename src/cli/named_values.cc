#include "cli/named_values.h"

#include "core/error.h"

namespace hone::cli {

namespace {

io::Json value_of(const std::string& text, const std::string& option) {
  if (text == "True") return true;
  if (text == "False") return false;
  if (text == "None") return nullptr;
  try {
    return io::parse_json(text, option);
  } catch (const Error&) {  // no JSON
    return text;
  }
}

}  // namespace

io::Json named_values(const std::vector<std::string>& arguments, const std::string& option) {
  io::Json values = io::Json::object();
  for (const std::string& argument : arguments) {
    const size_t sign = argument.find('=');
    if (sign == 0 || sign == std::string::npos) {
      throw Error(fmt::format("{}: expected NAME=VALUE, found '{}'", option, argument));
    }
    values.set(argument.substr(0, sign), value_of(argument.substr(sign + 1), option));
  }
  return values;
}

}  // namespace hone::cli
