// What commands take for a chat template.
#pragma once

#include <string>
#include <vector>

#include "text/chat_template.h"

namespace hone::cli {

// As named_values(). Those that the template does not look at are named on the error output.
io::Json template_arguments(const std::vector<std::string>& given, const ChatTemplate& chat);

}  // namespace hone::cli
