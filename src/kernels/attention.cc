// Cuts attention into tasks by shape, heaviest first, and hands them to the kernels of the target.
#include "kernels/attention.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/attention_kernels.h"

namespace hone::kernels {

static_assert(kKvBlock == cpu::kAttentionBlock);

namespace {

constexpr int64_t kTileRows = 48;      // (query, head) rows of a forward tile: 8 groups of 6
constexpr int64_t kMaxSegments = 4;    // of a sequence's queries in backward
constexpr int64_t kSplitLength = 128;  // shorter sequences are one segment
constexpr int64_t kWriteTile = 32;     // tokens
constexpr int64_t kSumTile = 64;       // tokens
constexpr int64_t kLine = 16;          // channels copied at a time: a cache line of floats

struct Heads {
  int64_t num_heads, num_kv_heads, group, head_dim;
};

Heads heads_of(const KvLayer& kv, ConstComputeView q_T_HqC) {
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

// Queries [first, first + count) of a sequence with the heads of one kv head.
struct Task {
  int64_t cost;
  int32_t sequence, kv_head, first, count;
};

// Heaviest first: the last tasks to be taken are small, so threads end together.
void sort_by_cost(View<Task> tasks) {
  std::sort(tasks.data, tasks.data + tasks.size(), [](const Task& a, const Task& b) {
    if (a.cost != b.cost) return a.cost > b.cost;
    if (a.sequence != b.sequence) return a.sequence < b.sequence;
    if (a.first != b.first) return a.first < b.first;
    return a.kv_head < b.kv_head;
  });
}

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

// Ends of the query segments of a sequence: equal causal cost, so the k-th of n ends at length * sqrt(k / n).
// A function of the length alone.
struct Segments {
  int64_t count = 1;
  int64_t end[kMaxSegments] = {};

  int64_t begin(int64_t k) const { return k == 0 ? 0 : end[k - 1]; }
};
Segments segments_of(int64_t length) {
  Segments segments;
  if (length >= kSplitLength) segments.count = kMaxSegments;
  for (int64_t k = 0; k + 1 < segments.count; ++k) {
    const double share = std::sqrt(static_cast<double>(k + 1) / static_cast<double>(segments.count));
    segments.end[k] = static_cast<int64_t>(static_cast<double>(length) * share) / 16 * 16;
  }
  segments.end[segments.count - 1] = length;
  return segments;
}

// Where the scratch of one sequence's backward begins, in floats.
struct SequenceScratch {
  int64_t blocks = 0;  // [Hk][num_blocks] block forms
  int64_t parts = 0;   // per segment but the last: dk, then dv, each [end][Hk * C]
};

int64_t part_offset(const Segments& segments, int64_t segment, int64_t columns) {
  int64_t offset = 0;
  for (int64_t k = 0; k < segment; ++k) offset += 2 * segments.end[k] * columns;
  return offset;
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
  const View<Task> tasks = ctx.scratch.take<Task>(num_tasks);
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
    const Task& task = tasks[i];
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

void attention_backward(Context& ctx, View<float> dq_T_HqC, View<float> dk_T_HkC, View<float> dv_T_HkC,
                        View<const float> do_T_HqC, ConstComputeView o_T_HqC, ConstComputeView q_T_HqC,
                        const KvLayer& kv, View<const float> lse_T_Hq, const SequenceTable& sequences, float scale) {
  const auto [Hq, Hk, G, C] = heads_of(kv, q_T_HqC);
  const int64_t T = q_T_HqC.rows, S = sequences.num_sequences(), columns = Hk * C;
  const auto check_shape = [&](int64_t rows, int64_t cols, int64_t expected_cols, const char* what) {
    HONE_CHECK(rows == T && cols == expected_cols, "{} is {}x{}, expected {}x{}", what, rows, cols, T, expected_cols);
  };
  check_shape(dq_T_HqC.rows, dq_T_HqC.cols, Hq * C, "dq");
  check_shape(dk_T_HkC.rows, dk_T_HkC.cols, columns, "dk");
  check_shape(dv_T_HkC.rows, dv_T_HkC.cols, columns, "dv");
  check_shape(do_T_HqC.rows, do_T_HqC.cols, Hq * C, "do");
  check_shape(o_T_HqC.rows, o_T_HqC.cols, Hq * C, "o");
  check_shape(lse_T_Hq.rows, lse_T_Hq.cols, Hq, "lse");
  HONE_CHECK(o_T_HqC.dtype == kv.dtype, "o is {}, the cache {}", name(o_T_HqC.dtype), name(kv.dtype));
  check_table(sequences, kv, T);

  const auto offset = [&](int64_t s) { return int64_t{sequences.cu_seqlens[static_cast<size_t>(s)]}; };
  const auto length = [&](int64_t s) { return offset(s + 1) - offset(s); };
  const auto num_blocks = [&](int64_t s) { return (length(s) + kKvBlock - 1) / kKvBlock; };
  const Arena::Scope scope(ctx.scratch);
  const View<SequenceScratch> places = ctx.scratch.take<SequenceScratch>(S);
  int64_t num_tasks = 0, num_forms = 0, num_sums = 0, num_floats = 0, max_queries = 0;
  for (int64_t s = 0; s < S; ++s) {
    HONE_CHECK(length(s) == sequences.context_lens[static_cast<size_t>(s)],
               "backward of sequence {} with {} of {} queries", s, length(s),
               sequences.context_lens[static_cast<size_t>(s)]);
    const Segments segments = segments_of(length(s));
    places[s].blocks = num_floats;
    num_floats += Hk * num_blocks(s) * cpu::attention_block_floats(C);
    places[s].parts = num_floats;
    num_floats += part_offset(segments, segments.count - 1, columns);
    num_floats = (num_floats + 15) / 16 * 16;
    if (length(s) == 0) continue;
    num_forms += Hk * num_blocks(s);
    num_tasks += Hk * segments.count;
    if (segments.count > 1) num_sums += (segments.end[segments.count - 2] + kSumTile - 1) / kSumTile;
    for (int64_t k = 0; k < segments.count; ++k) {
      max_queries = std::max(max_queries, segments.end[k] - segments.begin(k));
    }
  }
  const View<float> shared = ctx.scratch.take<float>(num_floats);
  const View<Task> forms = ctx.scratch.take<Task>(num_forms);  // first = block
  const View<Task> tasks = ctx.scratch.take<Task>(num_tasks);
  const View<Task> sums = ctx.scratch.take<Task>(num_sums);
  int64_t form = 0, n = 0, sum = 0;
  for (int64_t s = 0; s < S; ++s) {
    if (length(s) == 0) continue;
    const Segments segments = segments_of(length(s));
    const auto sequence = static_cast<int32_t>(s);
    for (int32_t h = 0; h < Hk; ++h) {
      for (int32_t b = 0; b < num_blocks(s); ++b) forms[form++] = {0, sequence, h, b, 1};
      for (int64_t k = 0; k < segments.count; ++k) {
        const int64_t count = segments.end[k] - segments.begin(k);
        tasks[n++] = {count * (segments.begin(k) + segments.end[k]), sequence, h, static_cast<int32_t>(k), 1};
      }
    }
    if (segments.count == 1) continue;
    const int64_t end = segments.end[segments.count - 2];
    for (int64_t t = 0; t < end; t += kSumTile) {
      sums[sum++] = {0, sequence, 0, static_cast<int32_t>(t), static_cast<int32_t>(std::min(kSumTile, end - t))};
    }
  }
  sort_by_cost(tasks);

  ctx.team.run(num_forms, [&](int64_t i) {
    const int64_t s = forms[i].sequence, h = forms[i].kv_head, b = forms[i].first;
    const int64_t block = sequences.block_table[static_cast<size_t>(s * sequences.max_blocks + b)];
    const int64_t first = (block * Hk + h) * C * kKvBlock * size_bytes(kv.dtype);
    cpu::AttentionBlockForms x;
    x.bf16 = kv.dtype == DType::bf16;
    x.keys = static_cast<const char*>(kv.keys) + first;
    x.values = static_cast<const char*>(kv.values) + first;
    x.keys_by_channel = shared.data + places[s].blocks + (h * num_blocks(s) + b) * cpu::attention_block_floats(C);
    x.keys_by_token = x.keys_by_channel + C * kKvBlock;
    x.values_by_channel = x.keys_by_token + kKvBlock * cpu::padded_head_dim(C);
    x.num_tokens = std::min(kKvBlock, length(s) - b * kKvBlock);
    x.head_dim = C;
    ctx.target.attention->block_forms(x);
  });

  const int64_t scratch_floats = (cpu::attention_backward_scratch(max_queries, C) + 15) / 16 * 16;
  const View<float> scratch = ctx.scratch.take<float>(ctx.team.num_threads(), scratch_floats);
  ctx.team.run(num_tasks, [&](int64_t i, int thread) {
    const int64_t s = tasks[i].sequence, h = tasks[i].kv_head, k = tasks[i].first, head = h * G;
    const Segments segments = segments_of(length(s));
    const int64_t t = offset(s) + segments.begin(k);
    cpu::AttentionBackwardTask x;
    x.bf16 = kv.dtype == DType::bf16;
    x.blocks = shared.data + places[s].blocks + h * num_blocks(s) * cpu::attention_block_floats(C);
    x.first_query = segments.begin(k);
    x.num_queries = segments.end[k] - segments.begin(k);
    x.group = G;
    x.head_dim = C;
    x.q = q_T_HqC.at(t, head * C);
    x.q_stride = q_T_HqC.stride;
    x.o = o_T_HqC.at(t, head * C);
    x.o_stride = o_T_HqC.stride;
    x.d_o = &do_T_HqC(t, head * C);
    x.d_o_stride = do_T_HqC.stride;
    x.lse = &lse_T_Hq(t, head);
    x.lse_stride = lse_T_Hq.stride;
    x.dq = &dq_T_HqC(t, head * C);
    x.dq_stride = dq_T_HqC.stride;
    if (k + 1 == segments.count) {
      x.dk = &dk_T_HkC(offset(s), h * C);
      x.dk_stride = dk_T_HkC.stride;
      x.dv = &dv_T_HkC(offset(s), h * C);
      x.dv_stride = dv_T_HkC.stride;
    } else {
      x.dk = shared.data + places[s].parts + part_offset(segments, k, columns) + h * C;
      x.dv = x.dk + segments.end[k] * columns;
      x.dk_stride = x.dv_stride = columns;
    }
    x.scale = scale;
    x.scratch = scratch.row(thread);
    ctx.target.attention->backward(x);
  });

  ctx.team.run(num_sums, [&](int64_t i) {
    const int64_t s = sums[i].sequence;
    const Segments segments = segments_of(length(s));
    for (int64_t t = sums[i].first; t < sums[i].first + sums[i].count; ++t) {
      const float* dk[kMaxSegments];
      const float* dv[kMaxSegments];
      int64_t num_parts = 0;
      for (int64_t k = 0; k + 1 < segments.count; ++k) {
        if (segments.end[k] <= t) continue;
        const float* part = shared.data + places[s].parts + part_offset(segments, k, columns);
        dk[num_parts] = part + t * columns;
        dv[num_parts++] = part + (segments.end[k] + t) * columns;
      }
      ctx.target.attention->add_parts(&dk_T_HkC(offset(s) + t, 0), dk, num_parts, columns);
      ctx.target.attention->add_parts(&dv_T_HkC(offset(s) + t, 0), dv, num_parts, columns);
    }
  });
}

}  // namespace hone::kernels
