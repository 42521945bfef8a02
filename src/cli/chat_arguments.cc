#include "cli/chat_arguments.h"

#include <cstdio>

#include "core/error.h"

namespace hone::cli {

io::Json template_arguments(const std::vector<std::string>& given, const ChatTemplate& chat) {
  io::Json arguments = io::Json::object();
  for (const std::string& argument : given) {
    const size_t equals = argument.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw Error(fmt::format("--arg: expected NAME=VALUE, found \"{}\"", argument));
    }
    const std::string value = argument.substr(equals + 1);
    try {
      arguments.set(argument.substr(0, equals), io::parse_json(value, "--arg"));
    } catch (const Error&) {  // no JSON: text
      const bool is_true = value == "True", is_false = value == "False";
      arguments.set(argument.substr(0, equals), is_true || is_false ? io::Json(is_true) : io::Json(value));
    }
  }
  for (const std::string& line : chat.unused_arguments(arguments)) fmt::print(stderr, "note: {}\n", line);
  return arguments;
}

}  // namespace hone::cli
