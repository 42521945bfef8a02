// ForwardBatch: the one input of the one forward, filled by rollout and by training.
// T = packed tokens of all sequences, S = sequences.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attention.h"

namespace hone {

struct ForwardBatch {
  std::vector<int32_t> ids;           // [T]
  std::vector<int32_t> positions;     // [T] rotary positions
  std::vector<int32_t> slots;         // [T] where the token's key and value go: block * kKvBlock + position % kKvBlock
  std::vector<int32_t> cu_seqlens;    // [S + 1], starts with 0
  std::vector<int32_t> context_lens;  // [S] tokens of the sequence in the cache after this forward
  std::vector<int32_t> block_table;   // [S * max_blocks]
  int64_t max_blocks = 0;
  std::vector<int32_t> logit_rows;  // rows of T whose hidden state is wanted; one may be wanted several times
  // Training shares what sequences have in common: kernels::SequenceTable::prefix_of, and rows of T whose keys and
  // values also go to another slot.
  std::vector<int32_t> prefix_of;
  std::vector<int32_t> copied_rows, copied_slots;

  bool without_adapters = false;  // the model that adapters were added to

  int64_t num_tokens() const { return static_cast<int64_t>(ids.size()); }
  kernels::SequenceTable sequences() const { return {cu_seqlens, context_lens, block_table, max_blocks, prefix_of}; }
};

}  // namespace hone
