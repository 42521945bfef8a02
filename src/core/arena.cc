#include "core/arena.h"

#include <algorithm>

namespace hone {

namespace {
constexpr int64_t kMinBlockBytes = int64_t{1} << 20;
}

void* Arena::take_bytes(int64_t size_bytes) {
  const int64_t size = (std::max<int64_t>(size_bytes, 1) + 63) / 64 * 64;
  while (block_ < blocks_.size() && used_ + size > blocks_[block_].size()) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    const int64_t last = blocks_.empty() ? 0 : blocks_.back().size();
    blocks_.emplace_back(std::max({size, kMinBlockBytes, std::min<int64_t>(2 * last, int64_t{1} << 28)}));
  }
  void* data = blocks_[block_].data() + used_;
  used_ += size;
  taken_ += size;
  peak_ = std::max(peak_, taken_);
  return data;
}

int64_t Arena::size_bytes() const {
  int64_t total = 0;
  for (const auto& block : blocks_) total += block.size();
  return total;
}

}  // namespace hone
