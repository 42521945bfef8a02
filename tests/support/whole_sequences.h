// A batch of whole sequences.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attention.h"
#include "models/forward_batch.h"

namespace hone::test {

// One after the other, every sequence in cache blocks of its own, every row's logits wanted. Sequence s is the ids
// [cu_seqlens[s], cu_seqlens[s + 1]).
inline ForwardBatch whole_sequences(const std::vector<int32_t>& ids, const std::vector<int32_t>& cu_seqlens) {
  ForwardBatch b;
  b.ids = ids;
  b.cu_seqlens = cu_seqlens;
  b.max_blocks = static_cast<int64_t>(ids.size()) / kernels::kKvBlock + 1;
  int32_t next_block = 0;
  for (size_t s = 0; s + 1 < cu_seqlens.size(); ++s) {
    const int32_t length = cu_seqlens[s + 1] - cu_seqlens[s];
    b.context_lens.push_back(length);
    for (int32_t p = 0; p < length; ++p) {
      b.positions.push_back(p);
      b.slots.push_back(next_block * static_cast<int32_t>(kernels::kKvBlock) + p);
      b.logit_rows.push_back(static_cast<int32_t>(b.logit_rows.size()));
    }
    for (int64_t k = 0; k < b.max_blocks; ++k) b.block_table.push_back(next_block + static_cast<int32_t>(k));
    next_block += static_cast<int32_t>(b.max_blocks);
  }
  return b;
}

}  // namespace hone::test
