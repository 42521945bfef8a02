// JSONL: one JSON object a line. Blank lines, CR LF and a byte-order mark are accepted; every faulty row is collected,
// so that a user sees all of them at once, and before a model is loaded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/faults.h"
#include "io/json.h"

namespace hone::io {

struct JsonRow {
  int64_t line = 0;  // in the file, from 1
  Json value;        // an object
};

using TakeRow = std::function<void(JsonRow&& row)>;

// Gives the good rows to `take` in file order, one in memory at a time. What is wrong goes to `faults` as
// "file:line: what"; a file without any row is a fault, and so is one that cannot be read. What `take` raises goes on.
void parse_jsonl(std::string_view text, const std::string& name, Faults& faults, const TakeRow& take);
void read_jsonl(const std::string& path, Faults& faults, const TakeRow& take);

// The same, all rows at once.
std::vector<JsonRow> parse_jsonl(std::string_view text, const std::string& name, Faults& faults);
std::vector<JsonRow> read_jsonl(const std::string& path, Faults& faults);

// The lines that are not blank: each is a row or a fault. Raises Error when the file cannot be read.
int64_t count_jsonl_rows(const std::string& path);

}  // namespace hone::io
