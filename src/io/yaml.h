// YAML, read strictly into the tree of Json. Plain scalars follow the core schema of YAML 1.2 where it agrees with what
// people mean: null, true and false, decimal integers, decimal numbers (1e-4 too). What is ambiguous stays text: yes,
// on, 010, 0x1f, 1_000, 12:30, .nan, .inf. Refused, with file, line and column: duplicate keys, keys that are no
// scalars, nesting deeper than 100, broken UTF-8, tags, merge keys, several documents, anchors that hold themselves,
// and more than a million values or 64 MiB of text (keys with their paths) once aliases are copies.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "io/json.h"

namespace hone::io {

struct Yaml {
  Json tree;                             // null when the text is empty
  std::map<std::string, int64_t> lines;  // of the keys of objects by their dotted path, "a.b.c"
};

Yaml parse_yaml(std::string_view text, const std::string& name);
Yaml read_yaml(const std::string& path);

// A plain scalar by the rules above: what `1e-4`, `true`, `null` or `abc` stand for.
Json plain_scalar(std::string_view text);
// The shortest YAML for a scalar, a list or an object on one line; text is quoted where it would read as something
// else.
std::string flow_yaml(const Json& value);

}  // namespace hone::io
