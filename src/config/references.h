// ${...} in config values:
//   ${a.b.c}  ${.c}  ${..b.c}           the value of another key; dots in front count groups from the one it stands in
//   ${oc.env:NAME}  ${oc.env:NAME,default}  ${NAME}     the environment (${NAME} when no key is called that)
//   ${oc.select:a.b.c,default}          the value of a key, or the default (null) when there is none
// \${ is a literal ${. References may stand within references.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "io/json.h"

namespace hone::config {

// The unresolved value of a key, or nothing when there is no such key.
using Lookup = std::function<std::optional<io::Json>(const std::string& key)>;

// `key` is where the value stands. A text that is one reference takes the kind of what it names; within longer text the
// value is written out. Lists and objects are resolved inside. Raises Error on an unknown key, an unset variable, a
// circle, another resolver, a text beyond a million characters, more than 100 levels of values and references within
// each other, more than 10,000 references, more than 64 MiB that they stand for.
io::Json resolve_references(const io::Json& value, const std::string& key, const Lookup& lookup);

}  // namespace hone::config
