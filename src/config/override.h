// Overrides: the `key=value` arguments of a command line, in the grammar of Hydra that verl's users type.
//   key=value  +key=value  ++key=value     set; a value is a list [a, b], an object {a: 1, b: {c: 2}}, a text in single
//                                          or double quotes, null, true, false, a number, or text as it stands
//   ~key  ~key=value                       take back what was set before it, for a key or a whole group
// In quotes \' and \" stand for the quote and \\ before them for a backslash. Outside, a comma separates items and
// nothing else; ${...} is kept for config/references.h.
#pragma once

#include <string>
#include <string_view>

#include "io/json.h"

namespace hone::config {

struct Override {
  std::string key;
  bool remove = false;     // ~key
  bool has_value = false;  // always, unless removed
  io::Json value;
};

// Raises Error with what is wrong and where in the text.
Override parse_override(std::string_view argument);

}  // namespace hone::config
