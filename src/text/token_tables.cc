#include "text/token_tables.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/error.h"

namespace hone::text {

namespace {
// The product's upper half depends on every bit of x; it is folded onto the lower, from which slots are taken.
uint64_t mix(uint64_t x) {
  x *= 0x9E3779B97F4A7C15ull;
  return x ^ (x >> 32);
}

// The first 8 bytes, or as many as there are.
uint64_t head_of(std::string_view bytes) {
  uint64_t head = 0;
  if (bytes.size() >= 8) {
    std::memcpy(&head, bytes.data(), 8);
  } else {
    for (size_t k = 0; k < bytes.size(); ++k) head |= uint64_t{static_cast<unsigned char>(bytes[k])} << (8 * k);
  }
  return head;
}

uint32_t hash_bytes(std::string_view bytes, uint64_t head) {
  uint64_t hash = mix(head ^ (uint64_t{bytes.size()} << 56));
  for (size_t i = 8; i < bytes.size(); i += 8) hash = mix(hash ^ head_of(bytes.substr(i)));
  return static_cast<uint32_t>(hash);
}

// At most two thirds full, so that a search ends soon.
size_t num_slots(size_t max_entries) { return std::bit_ceil(max_entries + max_entries / 2 + 2); }
}  // namespace

TokenTable::TokenTable(size_t max_tokens) : slots_(num_slots(max_tokens)), max_tokens_(max_tokens) {}

size_t TokenTable::place(std::string_view bytes, uint64_t head, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t s = hash & mask;
  for (; slots_[s].id >= 0; s = (s + 1) & mask) {
    const Slot& slot = slots_[s];
    if (slot.head != head || slot.size != bytes.size()) continue;
    if (bytes.size() <= 8) break;
    if (slot.hash == hash && std::memcmp(strings_.data() + slot.offset, bytes.data(), bytes.size()) == 0) break;
  }
  return s;
}

bool TokenTable::insert(std::string_view bytes, int32_t id) {
  const uint64_t head = head_of(bytes);
  const uint32_t hash = hash_bytes(bytes, head);
  Slot& slot = slots_[place(bytes, head, hash)];
  if (slot.id >= 0) return false;
  HONE_CHECK(num_tokens_ < max_tokens_ && id >= 0, "token {} of {}, id {}", num_tokens_, max_tokens_, id);
  HONE_CHECK(strings_.size() + bytes.size() < (uint64_t{1} << 32), "token strings of {} bytes", strings_.size());
  slot = {head, static_cast<uint32_t>(strings_.size()), static_cast<uint32_t>(bytes.size()), id, hash};
  if (bytes.size() > 8) strings_.append(bytes);
  longest_ = std::max(longest_, bytes.size());
  ++num_tokens_;
  return true;
}

int32_t TokenTable::find(std::string_view bytes) const {
  if (bytes.size() > longest_) return -1;
  const uint64_t head = head_of(bytes);
  return slots_[place(bytes, head, hash_bytes(bytes, head))].id;
}

MergeTable::MergeTable(size_t max_merges) : slots_(num_slots(max_merges)), max_merges_(max_merges) {}

size_t MergeTable::place(int32_t left, int32_t right) const {
  const size_t mask = slots_.size() - 1;
  size_t s = mix(uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right)) & mask;
  while (slots_[s].left >= 0 && (slots_[s].left != left || slots_[s].right != right)) s = (s + 1) & mask;
  return s;
}

bool MergeTable::insert(int32_t left, int32_t right, Merge merge) {
  Slot& slot = slots_[place(left, right)];
  if (slot.left >= 0) return false;
  HONE_CHECK(num_merges_ < max_merges_ && left >= 0 && right >= 0, "merge {} of {}: {} {}", num_merges_, max_merges_,
             left, right);
  slot = {left, right, merge};
  ++num_merges_;
  return true;
}

Merge MergeTable::find(int32_t left, int32_t right) const { return slots_[place(left, right)].merge; }

}  // namespace hone::text
