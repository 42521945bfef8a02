#include "prompts/row_order.h"

#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/random.h"

namespace hone {

std::vector<uint32_t> epoch_order(int64_t num_rows, bool shuffle, uint64_t seed, uint64_t epoch) {
  HONE_CHECK(num_rows >= 0 && num_rows < (int64_t{1} << 32), "{} rows", num_rows);
  std::vector<uint32_t> order(static_cast<size_t>(num_rows));
  std::iota(order.begin(), order.end(), 0u);
  if (!shuffle) return order;
  for (auto i = static_cast<uint32_t>(num_rows); i > 1; --i) {
    std::swap(order[i - 1], order[random_below({seed, Stream::shuffle}, epoch, 0, i, i)]);
  }
  return order;
}

RowOrder::RowOrder(int64_t num_rows, int64_t batch_size, bool shuffle, uint64_t seed)
    : num_rows_(num_rows), batch_size_(batch_size), shuffle_(shuffle), seed_(seed) {
  HONE_CHECK(batch_size > 0, "batch of {}", batch_size);
  if (num_rows < batch_size) {
    throw Error(fmt::format("{} rows of data do not fill one batch of {}", num_rows, batch_size),
                "lower data.train_batch_size (with dynamic sampling data.gen_batch_size) or add data");
  }
  order_ = epoch_order(num_rows, shuffle, seed, 0);
}

DrawnRow RowOrder::next() {
  const DrawnRow drawn{order_[static_cast<size_t>(position_.index++)], position_.draw++};
  settle();
  return drawn;
}

std::vector<DrawnRow> RowOrder::next_batch() {
  std::vector<DrawnRow> batch;
  for (int64_t i = 0; i < batch_size_; ++i) batch.push_back(next());
  return batch;
}

void RowOrder::settle() {
  if (position_.index < epoch_rows()) return;
  position_.index = 0;
  ++position_.epoch;
  order_ = epoch_order(num_rows_, shuffle_, seed_, static_cast<uint64_t>(position_.epoch));
}

void RowOrder::reorder(std::vector<uint32_t> order) {
  std::vector<bool> seen(static_cast<size_t>(num_rows_));
  for (const uint32_t row : order) {
    HONE_CHECK(row < seen.size() && !seen[row], "row {} of {} is unknown or there twice", row, num_rows_);
    seen[row] = true;
  }
  HONE_CHECK(order.size() == seen.size(), "{} of {} rows", order.size(), num_rows_);
  order_ = std::move(order);
}

void RowOrder::restore(const DataPosition& position) {
  if (position.epoch < 0 || position.index < 0 || position.index > num_rows_) {
    throw Error(fmt::format("position in the data: epoch {}, row {} of {}", position.epoch, position.index, num_rows_),
                "resume with the data the run was started with");
  }
  position_ = position;
  order_ = epoch_order(num_rows_, shuffle_, seed_, static_cast<uint64_t>(position_.epoch));
  settle();
}

}  // namespace hone
