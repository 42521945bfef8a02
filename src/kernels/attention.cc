// Writing the cache, and attention forward cut into tasks by shape.
#include "kernels/attention.h"

#include <algorithm>

#include "kernels/attention_tasks.h"
#include "kernels/cpu/attention_kernels.h"

namespace hone::kernels {

static_assert(kKvBlock == cpu::kAttentionBlock);

namespace {

constexpr int64_t kTileRows = 48;   // (query, head) rows of a forward tile: 8 groups of 6
constexpr int64_t kWriteTile = 32;  // tokens
constexpr int64_t kLine = 16;       // channels copied at a time: a cache line of floats

template <class T>
void write_tokens(const KvLayer& kv, const T* k, int64_t k_stride, const T* v, int64_t v_stride, const int32_t* slots,
                  int64_t num_tokens) {
  const int64_t C = kv.head_dim, Hk = kv.num_kv_heads;
  int64_t run = 0;  // consecutive slots of one block: their keys are neighbours
  for (int64_t t = 0; t < num_tokens; t += run) {
    run = 1;
    while (t + run < num_tokens && slots[t + run] == slots[t] + run && slots[t + run] % kKvBlock != 0) ++run;
    const int64_t block = slots[t] / kKvBlock, lane = slots[t] % kKvBlock;
    for (int64_t h = 0; h < Hk; ++h) {
      const int64_t offset = (block * Hk + h) * C * kKvBlock;
      T* keys = static_cast<T*>(kv.keys) + offset + lane;
      T* values = static_cast<T*>(kv.values) + offset + lane * C;
      for (int64_t c = 0; c < C; c += kLine) {
        for (int64_t i = 0; i < run; ++i) {
          const T* in = k + (t + i) * k_stride + h * C;
          for (int64_t d = c; d < std::min(c + kLine, C); ++d) keys[d * kKvBlock + i] = in[d];
        }
      }
      for (int64_t i = 0; i < run; ++i) std::copy_n(v + (t + i) * v_stride + h * C, C, values + i * C);
    }
  }
}

}  // namespace

void kv_write(Context& ctx, const KvLayer& kv, ConstComputeView k_T_HkC, ConstComputeView v_T_HkC,
              std::span<const int32_t> slots_T) {
  const int64_t T = k_T_HkC.rows, columns = kv.num_kv_heads * kv.head_dim;
  HONE_CHECK(k_T_HkC.cols == columns && v_T_HkC.cols == columns && v_T_HkC.rows == T &&
                 static_cast<int64_t>(slots_T.size()) == T,
             "keys {}x{}, values {}x{}, {} slots, cache of {} columns", T, k_T_HkC.cols, v_T_HkC.rows, v_T_HkC.cols,
             slots_T.size(), columns);
  HONE_CHECK(k_T_HkC.dtype == kv.dtype && v_T_HkC.dtype == kv.dtype, "keys {}, values {}, cache {}",
             name(k_T_HkC.dtype), name(v_T_HkC.dtype), name(kv.dtype));
  for (const int32_t slot : slots_T) {
    HONE_CHECK(slot >= 0 && slot < kv.num_blocks * kKvBlock, "slot {} of {} blocks", slot, kv.num_blocks);
  }
  ctx.team.run((T + kWriteTile - 1) / kWriteTile, [&](int64_t tile) {
    const int64_t t = tile * kWriteTile, count = std::min(kWriteTile, T - t);
    const void *k = k_T_HkC.row(t), *v = v_T_HkC.row(t);
    const int32_t* slots = slots_T.data() + t;
    if (kv.dtype == DType::bf16) {
      write_tokens(kv, static_cast<const bf16*>(k), k_T_HkC.stride, static_cast<const bf16*>(v), v_T_HkC.stride, slots,
                   count);
    } else {
      write_tokens(kv, static_cast<const float*>(k), k_T_HkC.stride, static_cast<const float*>(v), v_T_HkC.stride,
                   slots, count);
    }
  });
}

void attention_forward(Context& ctx, ComputeView o_T_HqC, View<float> lse_T_Hq, ConstComputeView q_T_HqC,
                       const KvLayer& kv, const SequenceTable& sequences, float scale) {
  const auto [Hq, Hk, G, C] = heads_of(kv, q_T_HqC);
  const int64_t T = q_T_HqC.rows, S = sequences.num_sequences();
  HONE_CHECK(o_T_HqC.rows == T && o_T_HqC.cols == Hq * C && o_T_HqC.dtype == kv.dtype, "output {}x{} {} for {}x{} {}",
             o_T_HqC.rows, o_T_HqC.cols, name(o_T_HqC.dtype), T, Hq * C, name(kv.dtype));
  HONE_CHECK(lse_T_Hq.data == nullptr || (lse_T_Hq.rows == T && lse_T_Hq.cols == Hq), "lse {}x{}", lse_T_Hq.rows,
             lse_T_Hq.cols);
  check_table(sequences, kv, T);

  const int64_t tile_queries = std::max<int64_t>(1, kTileRows / G);
  const auto length = [&](int64_t s) {
    return sequences.cu_seqlens[static_cast<size_t>(s + 1)] - sequences.cu_seqlens[static_cast<size_t>(s)];
  };
  int64_t num_tasks = 0;
  for (int64_t s = 0; s < S; ++s) num_tasks += (length(s) + tile_queries - 1) / tile_queries * Hk;
  const Arena::Scope scope(ctx.scratch);
  const View<AttentionTask> tasks = ctx.scratch.take<AttentionTask>(num_tasks);
  int64_t n = 0, max_queries = 0;
  for (int64_t s = 0; s < S; ++s) {
    const int64_t position = sequences.context_lens[static_cast<size_t>(s)] - length(s);
    for (int64_t first = 0; first < length(s); first += tile_queries) {
      const int64_t count = std::min<int64_t>(tile_queries, length(s) - first);
      max_queries = std::max(max_queries, count);
      for (int64_t h = 0; h < Hk; ++h) {
        tasks[n++] = {count * (position + first + count), static_cast<int32_t>(s), static_cast<int32_t>(h),
                      static_cast<int32_t>(first), static_cast<int32_t>(count)};
      }
    }
  }
  sort_by_cost(tasks);

  const int64_t scratch_floats = (cpu::attention_forward_scratch(max_queries * G, C) + 15) / 16 * 16;
  const View<float> scratch = ctx.scratch.take<float>(ctx.team.num_threads(), scratch_floats);
  ctx.team.run(num_tasks, [&](int64_t i, int thread) {
    const AttentionTask& task = tasks[i];
    const int64_t s = task.sequence, t = sequences.cu_seqlens[static_cast<size_t>(s)] + task.first;
    const int64_t head = task.kv_head * G;
    cpu::AttentionForwardTile tile;
    tile.bf16 = kv.dtype == DType::bf16;
    tile.keys = kv.keys;
    tile.values = kv.values;
    tile.num_kv_heads = Hk;
    tile.kv_head = task.kv_head;
    tile.blocks = sequences.block_table.data() + s * sequences.max_blocks;
    tile.first_position = sequences.context_lens[static_cast<size_t>(s)] - length(s) + task.first;
    tile.num_queries = task.count;
    tile.group = G;
    tile.head_dim = C;
    tile.q = q_T_HqC.at(t, head * C);
    tile.q_stride = q_T_HqC.stride;
    tile.o = o_T_HqC.at(t, head * C);
    tile.o_stride = o_T_HqC.stride;
    tile.lse = lse_T_Hq.data == nullptr ? nullptr : &lse_T_Hq(t, head);
    tile.lse_stride = lse_T_Hq.stride;
    tile.scale = scale;
    tile.scratch = scratch.row(thread);
    ctx.target.attention->forward(tile);
  });
}

}  // namespace hone::kernels
