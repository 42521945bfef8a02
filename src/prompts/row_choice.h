// RowChoice: which rows of a data set a run uses. They are chosen among all rows as they stand in the files, as in
// verl: before they are rendered, and before any is left out for its length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hone {

class RowChoice {
 public:
  // max_samples: -1 for all rows; otherwise that many, drawn by the seed when `shuffle`, else the first ones.
  RowChoice(const std::vector<std::string>& files, int64_t max_samples, bool shuffle, uint64_t seed);

  // Whether the next row, in the order of files and lines, is one of them.
  bool next();

 private:
  std::optional<size_t> first_;              // so many of the first rows
  std::optional<std::vector<bool>> chosen_;  // of each row; neither: all
  size_t row_ = 0;
};

}  // namespace hone
