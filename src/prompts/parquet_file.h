// Rows of Parquet files, which pyarrow reads in a process of its own: structs become objects, lists lists, timestamps
// texts, bytes base64; NaN is null. A file is read in pieces, so that its size is no matter.
#pragma once

#include <cstdint>
#include <string>

#include "io/faults.h"
#include "io/jsonl.h"

namespace hone {

// As io::read_jsonl: rows are numbered from 1, faults are "file:row: what". Raises WorkerError, with what to install,
// when there is no Python or no pyarrow in it.
void read_parquet(const std::string& path, io::Faults& faults, const io::TakeRow& take);

// Raises Error when the file cannot be read.
int64_t count_parquet_rows(const std::string& path);

}  // namespace hone
