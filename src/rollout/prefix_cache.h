// PrefixCache: which blocks hold the keys and values of which ids, so that a sequence that begins like an earlier one
// takes them in place of computing them. It holds no tensors and owns no block: that is the block pool's.
//
// - An entry is a full block. Its key is (policy version, adapter, entry of the block before, ids of the block). It is
//   found by a hash and compared whole: the block before by its serial number, which no two entries ever have, ids one
//   by one. So equal keys mean equal ids from position 0 on, whatever the hash does.
// - A block has at most one entry, and no two entries have one key.
// - Nothing is allocated after construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hone {

class PrefixCache {
 public:
  // Whose keys and values they are.
  struct Root {
    int32_t version = 0;  // of the policy
    int32_t adapter = 0;
    bool operator==(const Root&) const = default;
  };

  // Tests let hashes collide by keeping few of their bits.
  PrefixCache(int64_t num_blocks, int64_t block_size, uint64_t hash_mask = ~uint64_t{0});

  // The blocks of the longest beginning of ids that is known, at most max_blocks of them, in place of what `blocks`
  // held.
  void find(const Root& root, std::span<const int32_t> ids, int64_t max_blocks, std::vector<int32_t>& blocks) const;
  // Enters a block without an entry that holds `ids`, block_size of them, after the block `before`, which has an entry;
  // -1: these are the first. Returns the block under this key: another one that was there already, else the block.
  int32_t insert(const Root& root, int32_t before, std::span<const int32_t> ids, int32_t block);
  bool contains(int32_t block) const { return entries_[static_cast<size_t>(block)].serial != 0; }
  // Forgets the block's entry, if it has one.
  void erase(int32_t block);
  void clear();

  int64_t num_entries() const { return num_entries_; }

 private:
  struct Entry {
    uint64_t serial = 0;  // 0: there is none
    uint64_t before = 0;  // serial of the block before; 0: there is none
    uint64_t hash = 0;
    Root root;
    int32_t next = -1;  // in the same bucket
  };
  uint64_t hash_of(const Root& root, uint64_t before, std::span<const int32_t> ids) const;
  int32_t find_block(const Root& root, uint64_t before, std::span<const int32_t> ids, uint64_t hash) const;
  int32_t& bucket(uint64_t hash) { return buckets_[hash % buckets_.size()]; }
  std::span<const int32_t> ids_of(int32_t block) const {
    return std::span(ids_).subspan(static_cast<size_t>(block) * block_size_, block_size_);
  }

  size_t block_size_;
  uint64_t hash_mask_;
  std::vector<Entry> entries_;    // [block]
  std::vector<int32_t> ids_;      // [block][block_size]
  std::vector<int32_t> buckets_;  // first block of each; -1: none
  uint64_t next_serial_ = 1;
  int64_t num_entries_ = 0;
};

}  // namespace hone
