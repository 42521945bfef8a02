// Files of rows, by the end of their names: NAME.parquet, NAME.json with a list of objects, and lines of JSON under any
// name (JSONL).
#pragma once

#include <cstdint>
#include <string>

#include "io/faults.h"
#include "io/jsonl.h"

namespace hone {

// As io::read_jsonl. Rows of lists and of Parquet files are numbered from 1, as lines are.
void read_rows(const std::string& path, io::Faults& faults, const io::TakeRow& take);

// Rows, good ones and those at fault. Raises Error when the file cannot be read.
int64_t count_rows(const std::string& path);

}  // namespace hone
