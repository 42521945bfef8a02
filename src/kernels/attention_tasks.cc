#include "kernels/attention_tasks.h"

#include <algorithm>

namespace hone::kernels {

AttentionHeads heads_of(const KvLayer& kv, ConstComputeView q_T_HqC) {
  const int64_t C = kv.head_dim, Hk = kv.num_kv_heads;
  HONE_CHECK(C > 0 && Hk > 0 && q_T_HqC.cols % (C * Hk) == 0, "{} query columns, {} kv heads of {}", q_T_HqC.cols, Hk,
             C);
  HONE_CHECK(q_T_HqC.dtype == kv.dtype, "queries are {}, the cache {}", name(q_T_HqC.dtype), name(kv.dtype));
  const int64_t Hq = q_T_HqC.cols / C;
  return {Hq, Hk, Hq / Hk, C};
}

void check_table(const SequenceTable& sequences, const KvLayer& kv, int64_t num_tokens) {
  const int64_t S = sequences.num_sequences();
  const auto& offsets = sequences.cu_seqlens;
  HONE_CHECK(static_cast<int64_t>(offsets.size()) == S + 1, "{} offsets for {} sequences", offsets.size(), S);
  HONE_CHECK(static_cast<int64_t>(sequences.block_table.size()) >= S * sequences.max_blocks, "block table of {}",
             sequences.block_table.size());
  HONE_CHECK(offsets.front() == 0 && offsets.back() == num_tokens, "offsets {} to {} for {} tokens", offsets.front(),
             offsets.back(), num_tokens);
  for (int64_t s = 0; s < S; ++s) {
    const auto i = static_cast<size_t>(s);
    const int64_t length = offsets[i + 1] - offsets[i], context = sequences.context_lens[i];
    HONE_CHECK(length >= 0 && length <= context, "sequence {}: {} queries, context {}", s, length, context);
    const int64_t num_blocks = (context + kKvBlock - 1) / kKvBlock;
    HONE_CHECK(num_blocks <= sequences.max_blocks, "sequence {}: context {} in {} blocks", s, context,
               sequences.max_blocks);
    for (int64_t b = 0; b < num_blocks; ++b) {
      const int32_t block = sequences.block_table[static_cast<size_t>(s * sequences.max_blocks + b)];
      HONE_CHECK(block >= 0 && block < kv.num_blocks, "sequence {}: block {} of {}", s, block, kv.num_blocks);
    }
  }
}

void sort_by_cost(View<AttentionTask> tasks) {
  std::sort(tasks.data, tasks.data + tasks.size(), [](const AttentionTask& a, const AttentionTask& b) {
    if (a.cost != b.cost) return a.cost > b.cost;
    if (a.sequence != b.sequence) return a.sequence < b.sequence;
    if (a.first != b.first) return a.first < b.first;
    return a.kv_head < b.kv_head;
  });
}

}  // namespace hone::kernels
