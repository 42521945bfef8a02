// The two look-ups of byte-pair encoding, as open-addressing hash tables of a fixed size: token by bytes, merge by
// pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::text {

class TokenTable {
 public:
  explicit TokenTable(size_t max_tokens);
  // False when the string is there already. The total of all strings stays below 4 GiB.
  bool insert(std::string_view bytes, int32_t id);
  // -1 when there is no such token.
  int32_t find(std::string_view bytes) const;

 private:
  // Most tokens have at most 8 bytes: they are told apart by the slot alone.
  struct Slot {
    uint64_t head = 0;  // the first 8 bytes, zeros after the end
    uint32_t offset = 0, size = 0;
    int32_t id = -1;
    uint32_t hash = 0;
  };
  size_t place(std::string_view bytes, uint64_t head, uint32_t hash) const;

  std::string strings_;
  std::vector<Slot> slots_;
  size_t max_tokens_, num_tokens_ = 0, longest_ = 0;
};

constexpr uint32_t kNoRank = 0xFFFFFFFF;
struct Merge {
  uint32_t rank = kNoRank;
  int32_t id = -1;  // of the merged token
};

class MergeTable {
 public:
  explicit MergeTable(size_t max_merges);
  // False when the pair has a merge already. Ids are not negative.
  bool insert(int32_t left, int32_t right, Merge merge);
  // kNoRank when the pair is not merged.
  Merge find(int32_t left, int32_t right) const;

 private:
  struct Slot {
    int32_t left = -1, right = -1;
    Merge merge;
  };
  size_t place(int32_t left, int32_t right) const;

  std::vector<Slot> slots_;
  size_t max_merges_, num_merges_ = 0;
};

}  // namespace hone::text
