// A stand-in for pyarrow, for what Hone's Python program asks of it: a "Parquet file" is a Python expression, a list of
// row groups that are lists of rows. A row that is a text cannot be taken apart, and the text is why. What pyarrow
// itself makes of real files is seen where it is installed.
#pragma once

#include <string>

#include "io/atomic_file.h"
#include "io/file.h"

namespace hone::test {

// The folder to name in PYTHONPATH.
inline std::string write_fake_pyarrow(const std::string& folder) {
  const std::string modules = io::join_path(folder, "modules");
  io::make_folders(io::join_path(modules, "pyarrow"));
  io::write_file(modules + "/pyarrow/__init__.py", "");
  io::write_file(modules + "/pyarrow/parquet.py", R"(
import datetime, decimal

class Batch:
    def __init__(self, rows):
        self.rows, self.num_rows = rows, len(rows)
    def slice(self, at, count):
        return Batch(self.rows[at : at + count])
    def to_pylist(self):
        for row in self.rows:
            if isinstance(row, str):
                raise ValueError(row)
        return self.rows

class Group:
    def __init__(self, rows):
        self.num_rows = len(rows)

class Metadata:
    def __init__(self, groups):
        self.groups, self.num_rows = groups, sum(len(group) for group in groups)
    def row_group(self, at):
        return Group(self.groups[at])

class ParquetFile:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.groups = eval(file.read())
        self.num_row_groups, self.metadata = len(self.groups), Metadata(self.groups)
    def iter_batches(self, batch_size, row_groups, use_threads):
        for group in row_groups:
            rows = self.groups[group]
            for at in range(0, len(rows), batch_size):
                yield Batch(rows[at : at + batch_size])
)");
  return modules;
}

}  // namespace hone::test
