// What attention forward and backward share: their heads, the check of their table, and tasks cut by shape.
#pragma once

#include "kernels/attention.h"

namespace hone::kernels {

struct AttentionHeads {
  int64_t num_heads, num_kv_heads, group, head_dim;
};
AttentionHeads heads_of(const KvLayer& kv, ConstComputeView q_T_HqC);

// Raises Bug unless the table describes num_tokens queries whose blocks are in the cache.
void check_table(const SequenceTable& sequences, const KvLayer& kv, int64_t num_tokens);

// Queries [first, first + count) of a sequence with the heads of one kv head.
struct AttentionTask {
  int64_t cost;
  int32_t sequence, kv_head, first, count;
};

// Heaviest first: the last tasks to be taken are small, so threads end together.
void sort_by_cost(View<AttentionTask> tasks);

}  // namespace hone::kernels
