#include "prompts/row_choice.h"

#include <algorithm>

#include "core/error.h"
#include "prompts/row_file.h"
#include "prompts/row_order.h"

namespace hone {

namespace {

int64_t rows_of(const std::string& file) {
  try {
    return count_rows(file);
  } catch (const Error&) {
    return 0;  // a fault once its rows are read
  }
}

}  // namespace

RowChoice::RowChoice(const std::vector<std::string>& files, int64_t max_samples, bool shuffle, uint64_t seed) {
  HONE_CHECK(max_samples == -1 || max_samples > 0, "max_samples {}", max_samples);
  if (max_samples < 0) return;
  if (!shuffle) {  // the first ones: no need to know how many there are
    first_ = static_cast<size_t>(max_samples);
    return;
  }
  // Lines at fault are counted with the rows: with one of them the run is refused, whatever is chosen.
  int64_t num_rows = 0;
  for (const std::string& file : files) num_rows += rows_of(file);
  std::vector<uint32_t> order = epoch_order(num_rows, true, seed, kSubsetEpoch);
  order.resize(static_cast<size_t>(std::min(max_samples, num_rows)));
  chosen_.emplace(static_cast<size_t>(num_rows), false);
  for (const uint32_t row : order) (*chosen_)[row] = true;
}

bool RowChoice::next() {
  const size_t row = row_++;
  if (first_) return row < *first_;
  return !chosen_ || (row < chosen_->size() && (*chosen_)[row]);
}

}  // namespace hone
