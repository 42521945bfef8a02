// Byte-pair encoding of one piece of text: the pair of neighbours with the lowest rank is merged, the leftmost of
// equals first, until no pair has a rank. Immutable after construction; any number of threads may encode.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/token_tables.h"

namespace hone::text {

// A token as the bytes it stands for.
using Vocabulary = std::vector<std::pair<std::string, int32_t>>;

struct BpeRules {
  bool ignore_merges = false;              // a piece that is a token is that token, whatever the merges say
  std::optional<int32_t> unknown_id = {};  // stands for each byte without a token
  bool fuse_unknown = false;               // for each run of such bytes
};

class Bpe {
 public:
  // The strings of `vocabulary` are distinct.
  Bpe(const Vocabulary& vocabulary, MergeTable merges, BpeRules rules);

  // Appends the ids of the piece. Returns false, with `ids` as they were, when a byte of it has no token and there is
  // none for unknown bytes.
  bool encode(std::string_view piece, std::vector<int32_t>& ids) const;

 private:
  bool append_merged(std::string_view piece, std::vector<int32_t>& ids) const;

  MergeTable merges_;
  BpeRules rules_;
  std::array<int32_t, 256> byte_ids_{};
  TokenTable whole_;  // tokens which are the encoding of their own bytes: most pieces are found here
};

// The two ways to merge, equal in result: the scan is quadratic and quick for short pieces, the heap is n log n.
// The symbols from `begin` on become tokens. Up to kMaxScan symbols the scan's n^2/2 steps over two short arrays beat
// the heap's allocations.
constexpr size_t kMaxScan = 64;
void merge_by_scan(const MergeTable& merges, std::vector<int32_t>& ids, size_t begin);
void merge_by_heap(const MergeTable& merges, std::vector<int32_t>& ids, size_t begin);

}  // namespace hone::text
