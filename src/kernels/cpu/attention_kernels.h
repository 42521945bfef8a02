// Raw-pointer kernels of the attention operations, one table per target.   C = head_dim, G = query heads per kv head.
#pragma once

#include <stdint.h>

namespace hone::kernels::cpu {

constexpr int64_t kAttentionBlock = 32;      // keys of a block (kKvBlock)
constexpr int64_t kAttentionQueryTile = 48;  // queries of a backward tile: 8 groups of 6 rows

// C rounded up to whole vectors: the row length of everything in scratch.
constexpr int64_t padded_head_dim(int64_t head_dim) { return (head_dim + 15) / 16 * 16; }

// Consecutive queries of one sequence against one kv head: rows of G * num_queries (query, head) pairs.
// q, o and lse point at the first query's first head; strides are elements from one query to the next.
struct AttentionForwardTile {
  bool bf16 = false;  // q, o and the cache
  const void* keys = nullptr;
  const void* values = nullptr;
  int64_t num_kv_heads = 0, kv_head = 0;
  const int32_t* blocks = nullptr;  // of the sequence
  int64_t first_position = 0, num_queries = 0;
  int64_t group = 0, head_dim = 0;
  const void* q = nullptr;
  void* o = nullptr;
  float* lse = nullptr;  // may be null
  int64_t q_stride = 0, o_stride = 0, lse_stride = 0;
  float scale = 0;
  float* scratch = nullptr;  // attention_forward_scratch(rows, C) floats
};
constexpr int64_t attention_forward_scratch(int64_t rows, int64_t head_dim) {
  return rows * (2 * padded_head_dim(head_dim) + kAttentionBlock) + 4 * (rows + 16);
}

// One block of keys and values in the three forms that backward reads, all float; tokens beyond num_tokens are zeros.
struct AttentionBlockForms {
  bool bf16 = false;
  const void* keys = nullptr;          // [C][32] of the cache
  const void* values = nullptr;        // [32][C] of the cache
  float* keys_by_channel = nullptr;    // [C][32]
  float* keys_by_token = nullptr;      // [32][padded C]
  float* values_by_channel = nullptr;  // [C][32]
  int64_t num_tokens = 0, head_dim = 0;
};
constexpr int64_t attention_block_floats(int64_t head_dim) {
  return kAttentionBlock * (2 * head_dim + padded_head_dim(head_dim));
}

// A segment of the queries of one sequence with the G heads of one kv head: all of their dq, and what they add to dk
// and dv of the keys before the segment's end (overwritten).
struct AttentionBackwardTask {
  bool bf16 = false;              // q and o
  const float* blocks = nullptr;  // per block: keys_by_channel, keys_by_token, values_by_channel
  int64_t first_query = 0, num_queries = 0;
  int64_t group = 0, head_dim = 0;
  const void *q = nullptr, *o = nullptr;  // pointers of the first query and head of the segment
  const float *d_o = nullptr, *lse = nullptr;
  float* dq = nullptr;
  float *dk = nullptr, *dv = nullptr;  // of key 0
  int64_t q_stride = 0, o_stride = 0, d_o_stride = 0, lse_stride = 0, dq_stride = 0, dk_stride = 0, dv_stride = 0;
  float scale = 0;
  float* scratch = nullptr;  // attention_backward_scratch(num_queries, C) floats
};
constexpr int64_t attention_backward_scratch(int64_t num_queries, int64_t head_dim) {
  return num_queries * (3 * padded_head_dim(head_dim) + 2) + 2 * kAttentionQueryTile * kAttentionBlock +
         2 * kAttentionBlock * padded_head_dim(head_dim);
}

struct AttentionKernels {
  void (*forward)(const AttentionForwardTile&);
  void (*block_forms)(const AttentionBlockForms&);
  void (*backward)(const AttentionBackwardTask&);
  // out = ((parts[0] + parts[1]) + ...) + out, n elements.
  void (*add_parts)(float* out, const float* const* parts, int64_t num_parts, int64_t n);
};

namespace scalar {
extern const AttentionKernels kAttentionKernels;
}
namespace avx2 {
extern const AttentionKernels kAttentionKernels;
}
namespace avx512 {
extern const AttentionKernels kAttentionKernels;
}
namespace avx512bf16 {
extern const AttentionKernels kAttentionKernels;
}

}  // namespace hone::kernels::cpu
