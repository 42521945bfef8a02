// JSONL: one JSON object a line. Blank lines, CR LF and a byte-order mark are accepted; every faulty row is collected,
// so that a user sees all of them at once, and before a model is loaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/faults.h"
#include "io/json.h"

namespace hone::io {

struct JsonRow {
  int64_t line = 0;  // in the file, from 1
  Json value;        // an object
};

// The good rows in file order. What is wrong goes to `faults` as "file:line: what"; a file without any row is a fault.
std::vector<JsonRow> parse_jsonl(std::string_view text, const std::string& name, Faults& faults);
std::vector<JsonRow> read_jsonl(const std::string& path, Faults& faults);

}  // namespace hone::io
