// Causal attention through block tables, one operation for prefill, decode and training (law 1).
// T = query tokens of all sequences, packed; S = sequences; Hq / Hk = query / key-value heads, G = Hq / Hk; C =
// head_dim. Keys and values live in blocks of kKvBlock tokens anchored at position 0 of the sequence and are visited in
// order with an online softmax per (query, head) row, so a row's result does not depend on how many queries, sequences
// or blocks stand beside it. Lanes beyond the query's position count for nothing, whatever they hold: their scores are
// replaced by lane number and their values are not read. So a fresh block needs no clearing, and kv_write writes only
// the slots it is given.
// q, k, v, o and the cache share the compute dtype; all arithmetic is in float and o is rounded once.
#pragma once

#include <cstdint>
#include <span>

#include "core/view.h"
#include "kernels/context.h"

namespace hone::kernels {

constexpr int64_t kKvBlock = 32;  // tokens: two vectors of 16 keys

// The cache of one layer. Keys [block][Hk][C][kKvBlock] (transposed, so that lanes are keys), values
// [block][Hk][kKvBlock][C].
struct KvLayer {
  void* keys = nullptr;
  void* values = nullptr;
  DType dtype = DType::f32;
  int64_t num_blocks = 0, num_kv_heads = 0, head_dim = 0;

  int64_t block_elements() const { return num_kv_heads * head_dim * kKvBlock; }  // of keys; values the same
};

// Which queries belong together and where their keys stand.
struct SequenceTable {
  std::span<const int32_t> cu_seqlens;    // [S + 1] offsets into the packed queries
  std::span<const int32_t> context_lens;  // [S] keys of the sequence, its queries (the last ones) included
  std::span<const int32_t> block_table;   // [S * max_blocks] block numbers; row s serves sequence s
  int64_t max_blocks = 0;
  // [S], or empty when none has one: the sequence whose first tokens are also those before this one's queries, -1:
  // none. It is an earlier, whole one; all between share it too. Backward alone reads this.
  std::span<const int32_t> prefix_of = {};

  int64_t num_sequences() const { return static_cast<int64_t>(context_lens.size()); }
};

// Writes k and v of the packed tokens to their slots (slot = block * kKvBlock + position % kKvBlock), each slot at most
// once in a call.
void kv_write(Context& ctx, const KvLayer& kv, ConstComputeView k_T_HkC, ConstComputeView v_T_HkC,
              std::span<const int32_t> slots_T);

// o = softmax(scale * q k^T) v per query head; query head h reads kv head h / G. lse_T_Hq = log of the softmax sum
// (natural, of scaled scores), kept for backward; its view may be empty when none follows.
void attention_forward(Context& ctx, ComputeView o_T_HqC, View<float> lse_T_Hq, ConstComputeView q_T_HqC,
                       const KvLayer& kv, const SequenceTable& sequences, float scale);

// Whole sequences (context_lens = query lengths), or what comes after a shared prefix (prefix_of): training. Overwrites
// dq, dk, dv. dk and dv sum segments of the queries in a fixed order (within one: heads of the group upwards, queries
// upwards), those of a prefix first its own sequence's, then the sharers' in order; the cut into segments is a function
// of the sequence's lengths alone, so neither threads nor the rest of the batch change a bit.
// (FlashAttention-2, Dao 2023, algorithm 2.)
void attention_backward(Context& ctx, View<float> dq_T_HqC, View<float> dk_T_HkC, View<float> dv_T_HkC,
                        View<const float> do_T_HqC, ConstComputeView o_T_HqC, ConstComputeView q_T_HqC,
                        const KvLayer& kv, View<const float> lse_T_Hq, const SequenceTable& sequences, float scale);

// Bytes of scratch that attention_backward takes for a token, at most a few beside: of whole sequences, or of answers
// as long as the prompt that they share.
double attention_backward_scratch_bytes(int64_t num_kv_heads, int64_t head_dim, bool shares_prompts);

}  // namespace hone::kernels
