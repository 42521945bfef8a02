// Arguments of the form NAME=VALUE.
#pragma once

#include <string>
#include <vector>

#include "io/json.h"

namespace hone::cli {

// An object of them; of a name that stands twice the last one counts. A value is JSON, or Python's True, False or None,
// else a text. Raises Error that names the option.
io::Json named_values(const std::vector<std::string>& arguments, const std::string& option);

}  // namespace hone::cli
