// From a YAML file and `key=value` arguments to the values of a schema.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/schema.h"
#include "io/faults.h"

namespace hone::config {

struct Setting {
  std::string key;  // dotted
  io::Json value;
  std::string where;  // "recipe.yaml:12" or "argument 3"
  // ~key: takes back what was set before it for the key or its group; with ~key=value the value there must be this one.
  bool remove = false, must_match = false;
};

// A tree as dotted leaves; empty groups and null groups say nothing.
std::vector<Setting> settings_of_file(const std::string& path);
// In the grammar of config/override.h; arguments are numbered from 1, empty ones passed over.
std::vector<Setting> settings_of_arguments(const std::vector<std::string>& arguments, io::Faults& faults);

// Puts the settings, later ones over earlier ones, into the schema's fields. Unknown keys (with the nearest known one),
// wrong kinds, values out of range, refused keys and missing required ones all go to `faults`. Gives one line for each
// key that was accepted without a meaning here.
std::vector<std::string> apply(Schema& schema, const std::vector<Setting>& settings, io::Faults& faults);

// All of it: a file (none when `path` is empty), then arguments, then `validate` for what no field can see alone: its
// faults begin with the key they are about and name in full the others that they look at; one that names a key with a
// fault of its own is left out, for that field holds its default. Raises one Error that lists all faults, each with the
// place of the value it is about; gives the lines of apply, and one for each value beside the default that has no
// effect as the others are.
std::vector<std::string> load(Schema& schema, const std::string& path, const std::vector<std::string>& arguments,
                              const std::function<void(io::Faults&)>& validate);

}  // namespace hone::config
