#include "rollout/prefix_cache.h"

#include <algorithm>

#include "core/error.h"

namespace hone {

PrefixCache::PrefixCache(int64_t num_blocks, int64_t block_size, uint64_t hash_mask)
    : block_size_(static_cast<size_t>(block_size)),
      hash_mask_(hash_mask),
      entries_(static_cast<size_t>(num_blocks)),
      ids_(entries_.size() * block_size_),
      buckets_(std::max<size_t>(entries_.size(), 1), -1) {}

// Each number is multiplied in and its high bits brought down (the finaliser of MurmurHash3).
uint64_t PrefixCache::hash_of(const Root& root, uint64_t before, std::span<const int32_t> ids) const {
  const auto mix = [](uint64_t h, uint64_t value) {
    h = (h ^ value) * 0xff51afd7ed558ccdull;
    return h ^ (h >> 33);
  };
  uint64_t h = mix(mix(before, static_cast<uint32_t>(root.version)), static_cast<uint32_t>(root.adapter));
  for (const int32_t id : ids) h = mix(h, static_cast<uint32_t>(id));
  return h & hash_mask_;
}

int32_t PrefixCache::find_block(const Root& root, uint64_t before, std::span<const int32_t> ids, uint64_t hash) const {
  for (int32_t block = buckets_[hash % buckets_.size()]; block >= 0;
       block = entries_[static_cast<size_t>(block)].next) {
    const Entry& entry = entries_[static_cast<size_t>(block)];
    if (entry.hash != hash || entry.before != before || !(entry.root == root)) continue;
    if (std::ranges::equal(ids_of(block), ids)) return block;
  }
  return -1;
}

void PrefixCache::find(const Root& root, std::span<const int32_t> ids, int64_t max_blocks,
                       std::vector<int32_t>& blocks) const {
  blocks.clear();
  uint64_t before = 0;
  const size_t num_full = std::min(ids.size() / block_size_, static_cast<size_t>(std::max<int64_t>(max_blocks, 0)));
  while (blocks.size() < num_full && num_entries_ > 0) {
    const auto own = ids.subspan(blocks.size() * block_size_, block_size_);
    const int32_t block = find_block(root, before, own, hash_of(root, before, own));
    if (block < 0) return;
    blocks.push_back(block);
    before = entries_[static_cast<size_t>(block)].serial;
  }
}

int32_t PrefixCache::insert(const Root& root, int32_t before, std::span<const int32_t> ids, int32_t block) {
  HONE_CHECK(ids.size() == block_size_ && !contains(block) && (before < 0 || contains(before)),
             "block {} of {} ids after {}", block, ids.size(), before);
  const uint64_t parent = before < 0 ? 0 : entries_[static_cast<size_t>(before)].serial;
  const uint64_t hash = hash_of(root, parent, ids);
  if (const int32_t known = find_block(root, parent, ids, hash); known >= 0) return known;
  entries_[static_cast<size_t>(block)] = {next_serial_++, parent, hash, root, bucket(hash)};
  bucket(hash) = block;
  std::ranges::copy(ids, ids_.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(block) * block_size_));
  ++num_entries_;
  return block;
}

void PrefixCache::erase(int32_t block) {
  if (!contains(block)) return;
  Entry& entry = entries_[static_cast<size_t>(block)];
  int32_t* place = &bucket(entry.hash);
  while (*place != block) place = &entries_[static_cast<size_t>(*place)].next;
  *place = entry.next;
  entry = {};
  --num_entries_;
}

void PrefixCache::clear() {
  if (num_entries_ == 0) return;
  std::ranges::fill(entries_, Entry());
  std::ranges::fill(buckets_, -1);
  num_entries_ = 0;
}

}  // namespace hone
