// RowOrder: the order in which a run draws the rows of its data: epoch after epoch, in full batches, the rows that do
// not fill a batch left out as in verl. A function of (rows, batch size, shuffle, seed) and the position, so that a
// resumed run draws what the undisturbed one would have.
#pragma once

#include <cstdint>
#include <vector>

#include "records/data_position.h"

namespace hone {

struct DrawnRow {
  uint32_t row = 0;
  uint64_t draw = 0;
};

class RowOrder {
 public:
  // Raises Error when the rows do not fill one batch.
  RowOrder(int64_t num_rows, int64_t batch_size, bool shuffle, uint64_t seed);

  DrawnRow next();
  std::vector<DrawnRow> next_batch();
  int64_t batches_per_epoch() const { return num_rows_ / batch_size_; }

  // `epoch` counts finished epochs: after the last full batch of one the position is the start of the next.
  DataPosition position() const { return position_; }
  // Raises Error when the position cannot be one of this data.
  void restore(const DataPosition& position);

  // The order of the position's epoch, and another one of all rows in its place until that epoch ends.
  const std::vector<uint32_t>& order() const { return order_; }
  void reorder(std::vector<uint32_t> order);

 private:
  int64_t epoch_rows() const { return batches_per_epoch() * batch_size_; }
  void settle();

  int64_t num_rows_, batch_size_;
  bool shuffle_;
  uint64_t seed_;
  DataPosition position_;
  std::vector<uint32_t> order_;  // of position_.epoch
};

// All rows, as they stand or shuffled (Fisher and Yates) by (seed, epoch).
std::vector<uint32_t> epoch_order(int64_t num_rows, bool shuffle, uint64_t seed, uint64_t epoch);
// The number under which subsets are drawn, no epoch of a run.
constexpr uint64_t kSubsetEpoch = ~uint64_t{0};

}  // namespace hone
