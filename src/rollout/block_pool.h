// BlockPool: who owns which block of the KV cache. Blocks are counted references, so that the samples of a group can
// share their prompt. The block freed last is given out first: the order depends on the calls alone (law 2).
#pragma once

#include <cstdint>
#include <vector>

#include "core/error.h"

namespace hone {

class BlockPool {
 public:
  BlockPool(int64_t num_blocks, int64_t block_size) : block_size_(block_size) {
    HONE_CHECK(num_blocks >= 0 && block_size > 0, "{} blocks of {} tokens", num_blocks, block_size);
    owners_.assign(static_cast<size_t>(num_blocks), 0);
    free_.reserve(owners_.size());
    for (int64_t block = num_blocks; block-- > 0;) free_.push_back(static_cast<int32_t>(block));
  }

  int64_t block_size() const { return block_size_; }  // tokens
  int64_t num_blocks() const { return static_cast<int64_t>(owners_.size()); }
  int64_t num_free() const { return static_cast<int64_t>(free_.size()); }
  int32_t num_owners(int32_t block) const { return owners_.at(static_cast<size_t>(block)); }
  // Blocks that hold `num_tokens` tokens.
  int64_t blocks_for(int64_t num_tokens) const { return (num_tokens + block_size_ - 1) / block_size_; }

  // A block with one owner. There must be a free one.
  int32_t allocate() {
    HONE_CHECK(!free_.empty(), "none of {} blocks is free", num_blocks());
    const int32_t block = free_.back();
    free_.pop_back();
    owners_[static_cast<size_t>(block)] = 1;
    return block;
  }
  // One owner more.
  void share(int32_t block) {
    HONE_CHECK(num_owners(block) > 0, "block {} is free", block);
    ++owners_[static_cast<size_t>(block)];
  }
  // One owner less; without owners the block is free.
  void release(int32_t block) {
    HONE_CHECK(num_owners(block) > 0, "block {} is free", block);
    if (--owners_[static_cast<size_t>(block)] == 0) free_.push_back(block);
  }

 private:
  int64_t block_size_;
  std::vector<int32_t> owners_;  // [block]
  std::vector<int32_t> free_;
};

}  // namespace hone
