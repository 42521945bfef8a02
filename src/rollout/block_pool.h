// BlockPool: who owns which block of the KV cache. Owners are counted, so that the samples of a group can share their
// prompt. A block that is kept outlives its owners: it is free, but is given out only when no other is, the one that
// has been without an owner for longest first; until then it can be shared again. Of the others the block freed last is
// given out first. The order depends on the calls alone (law 2); nothing is allocated after construction.
//
// Invariants: a block is owned, idle (kept, no owner) or unused; num_free counts the latter two.
#pragma once

#include <cstdint>
#include <vector>

#include "core/error.h"

namespace hone {

class BlockPool {
 public:
  BlockPool(int64_t num_blocks, int64_t block_size) : block_size_(block_size) {
    HONE_CHECK(num_blocks >= 0 && block_size > 0, "{} blocks of {} tokens", num_blocks, block_size);
    blocks_.resize(static_cast<size_t>(num_blocks) + 1);
    unused_.reserve(static_cast<size_t>(num_blocks));
    for (int64_t block = num_blocks; block-- > 0;) unused_.push_back(static_cast<int32_t>(block));
    ends().previous = ends().next = end();
  }

  int64_t block_size() const { return block_size_; }  // tokens
  int64_t num_blocks() const { return static_cast<int64_t>(blocks_.size()) - 1; }
  int64_t num_free() const { return static_cast<int64_t>(unused_.size()) + num_idle_; }
  int64_t num_idle() const { return num_idle_; }
  int32_t num_owners(int32_t block) const { return at(block).owners; }
  bool is_kept(int32_t block) const { return at(block).kept; }
  // Blocks that hold `num_tokens` tokens.
  int64_t blocks_for(int64_t num_tokens) const { return (num_tokens + block_size_ - 1) / block_size_; }

  // A block with one owner, no longer kept. There must be a free one.
  int32_t allocate() {
    HONE_CHECK(num_free() > 0, "none of {} blocks is free", num_blocks());
    int32_t block = ends().next;
    if (unused_.empty()) {
      leave_idle(block);
    } else {
      block = unused_.back();
      unused_.pop_back();
    }
    at(block).kept = false;
    at(block).owners = 1;
    return block;
  }
  // One owner more, of a block that has one or is idle.
  void share(int32_t block) {
    HONE_CHECK(num_owners(block) > 0 || is_kept(block), "block {} is free", block);
    if (at(block).owners++ == 0) leave_idle(block);
  }
  // One owner less; without owners the block is free.
  void release(int32_t block) {
    HONE_CHECK(num_owners(block) > 0, "block {} is free", block);
    if (--at(block).owners > 0) return;
    if (is_kept(block)) {
      become_idle(block);
    } else {
      unused_.push_back(block);
    }
  }
  // An owned block outlives its owners from now on.
  void keep(int32_t block) {
    HONE_CHECK(num_owners(block) > 0, "block {} is free", block);
    at(block).kept = true;
  }
  // No block is kept any more.
  void keep_none() {
    while (num_idle_ > 0) {
      const int32_t block = ends().next;
      leave_idle(block);
      unused_.push_back(block);
    }
    for (Block& block : blocks_) block.kept = false;
  }

 private:
  struct Block {
    int32_t owners = 0;
    bool kept = false;
    int32_t previous = 0, next = 0;  // of the idle ones, the longest idle first; a ring through the last element
  };
  Block& at(int32_t block) { return blocks_.at(static_cast<size_t>(block)); }
  const Block& at(int32_t block) const { return blocks_.at(static_cast<size_t>(block)); }
  int32_t end() const { return static_cast<int32_t>(num_blocks()); }
  Block& ends() { return blocks_.back(); }
  void become_idle(int32_t block) {
    at(block).previous = ends().previous;
    at(block).next = end();
    at(ends().previous).next = block;
    ends().previous = block;
    ++num_idle_;
  }
  void leave_idle(int32_t block) {
    at(at(block).previous).next = at(block).next;
    at(at(block).next).previous = at(block).previous;
    --num_idle_;
  }

  int64_t block_size_;
  std::vector<Block> blocks_;  // [num_blocks + 1]
  std::vector<int32_t> unused_;
  int64_t num_idle_ = 0;
};

}  // namespace hone
