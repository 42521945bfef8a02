// ${a.b.c} in config values: the value of another key; ${oc.env:NAME} and ${oc.env:NAME,default}: the environment.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "io/json.h"

namespace hone::config {

// The unresolved value of a key, or nothing when there is no such key.
using Lookup = std::function<std::optional<io::Json>(const std::string& key)>;

// A text that is one reference takes the kind of what it names; within longer text the value is written out. Lists and
// objects are resolved inside. Raises Error on an unknown key, an unset variable, a circle, another resolver.
io::Json resolve_references(const io::Json& value, const Lookup& lookup);

}  // namespace hone::config
