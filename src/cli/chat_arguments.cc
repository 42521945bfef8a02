#include "cli/chat_arguments.h"

#include <cstdio>

#include "cli/named_values.h"
#include "core/error.h"

namespace hone::cli {

io::Json template_arguments(const std::vector<std::string>& given, const ChatTemplate& chat) {
  io::Json arguments = named_values(given, "--arg");
  for (const std::string& line : chat.unused_arguments(arguments)) fmt::print(stderr, "note: {}\n", line);
  return arguments;
}

}  // namespace hone::cli
