// Causal attention forward for one tile of queries: online softmax over the blocks of the context (Milakov and
// Gimelshein 2018; FlashAttention-2, Dao 2023). Backward is in attention_backward_target.cc.
// A row sees only lanes up to its own position: scores beyond are replaced, values beyond are not read.
#include "kernels/cpu/attention_kernels.h"
#include "kernels/cpu/attention_multiply.h"
#include "kernels/cpu/row_vec.h"
#include "kernels/cpu/vec.h"

namespace hone::kernels::cpu::HONE_TARGET {

void attention_block_forms(const AttentionBlockForms& x);
void attention_backward(const AttentionBackwardTask& x);

namespace {

constexpr float kInfinity = __builtin_inff();

// Natural logarithm in double, about 1e-12: the series of 2 atanh((m - 1) / (m + 1)) with m in [0.7, 1.42).
double log_of(float x) {
  if (!(x > 0.0f && x < kInfinity)) return static_cast<double>(x);  // only after non-finite input
  const uint32_t u = __builtin_bit_cast(uint32_t, x);
  int exponent = static_cast<int>(u >> 23) - 127;
  double m = static_cast<double>(__builtin_bit_cast(float, (u & 0x7fffffu) | 0x3f800000u));
  if (m > 1.41421356) {
    m *= 0.5;
    ++exponent;
  }
  const double f = (m - 1.0) / (m + 1.0), z = f * f;
  double series = 1.0 / 13;
  for (double divisor = 11; divisor >= 1; divisor -= 2) series = series * z + 1.0 / divisor;
  return exponent * 0.69314718055994530942 + 2.0 * f * series;
}

// Row = query * G + head, so that the rows that reach a block are the last ones.
struct Rows {
  float *q, *s, *o;                      // [rows][padded C], [rows][32], [rows][padded C]
  float *max, *sum, *block_max, *alpha;  // [rows + 16]
};

// How many lanes of the block that starts at `base` the query at `position` sees: at most 32.
HONE_INLINE int64_t lanes_seen(int64_t position, int64_t base) {
  return position - base + 1 < kAttentionBlock ? position - base + 1 : kAttentionBlock;
}

// s = scale * s with masked lanes at -inf; block_max = their maximum.
void mask_and_max(const AttentionForwardTile& x, const Rows& rows, int64_t first_query, int64_t base) {
  const Vec scale = set1(x.scale), minus_infinity = set1(-kInfinity);
  for (int64_t i = first_query; i < x.num_queries; ++i) {
    const int64_t seen = lanes_seen(x.first_position + i, base);
    for (int64_t r = i * x.group; r < (i + 1) * x.group; ++r) {
      float* s = rows.s + r * kAttentionBlock;
      Vec s0 = load(s) * scale, s1 = load(s + kLanes) * scale;
      if (seen < kAttentionBlock) {
        s0 = first_lanes(s0, seen, minus_infinity);
        s1 = first_lanes(s1, seen - kLanes, minus_infinity);
      }
      store(s, s0);
      store(s + kLanes, s1);
      rows.block_max[r] = max_lane(max(s0, s1));
    }
  }
}

// The step of the online softmax: alpha = e^(old max - new max), s = e^(s - new max), sum = sum * alpha + their sum.
void softmax_step(const Rows& rows, int64_t begin, int64_t end) {
  for (int64_t r = begin; r < end; r += kLanes) {
    const Vec old_max = load(rows.max + r);
    const Vec new_max = max(load(rows.block_max + r), old_max);
    const Vec alpha = exp(old_max - new_max);
    store(rows.alpha + r, alpha);
    store(rows.max + r, new_max);
    store(rows.sum + r, load(rows.sum + r) * alpha);
  }
  for (int64_t r = begin; r < end; ++r) {
    float* s = rows.s + r * kAttentionBlock;
    const Vec row_max = set1(rows.max[r]);
    const Vec p0 = exp(load(s) - row_max), p1 = exp(load(s + kLanes) - row_max);
    store(s, p0);
    store(s + kLanes, p1);
    rows.sum[r] += sum(p0 + p1);
  }
}

template <class T>
void visit_block(const AttentionForwardTile& x, const Rows& rows, int64_t block) {
  const int64_t C = x.head_dim, padded = padded_head_dim(C), G = x.group, base = block * kAttentionBlock;
  const auto offset = [&](int64_t b) { return (x.blocks[b] * x.num_kv_heads + x.kv_head) * C * kAttentionBlock; };
  const T* keys = static_cast<const T*>(x.keys) + offset(block);
  const T* values = static_cast<const T*>(x.values) + offset(block);
  const bool last = base + kAttentionBlock >= x.first_position + x.num_queries;
  const T* next_keys = last ? values : static_cast<const T*>(x.keys) + offset(block + 1);
  const int64_t first = base > x.first_position ? base - x.first_position : 0;  // query that reaches the block
  const int64_t begin = first * G, end = x.num_queries * G;

  multiply<Start::zero>(end - begin, {rows.q + begin * padded, padded, 1},
                        Right<T, true>{keys, kAttentionBlock, values - keys}, C,
                        {rows.s + begin * kAttentionBlock, kAttentionBlock, nullptr}, kAttentionBlock);
  mask_and_max(x, rows, first, base);
  softmax_step(rows, begin, end);
  const auto add_values = [&](int64_t from, int64_t to, int64_t seen) {
    multiply<Start::scaled>(to - from, {rows.s + from * kAttentionBlock, kAttentionBlock, 1},
                            Right<T, true>{values, C, next_keys - values}, seen,
                            {rows.o + from * padded, padded, rows.alpha + from}, C);
  };
  int64_t i = first;
  for (; i < x.num_queries && x.first_position + i < base + kAttentionBlock - 1; ++i) {
    add_values(i * G, (i + 1) * G, lanes_seen(x.first_position + i, base));
  }
  add_values(i * G, end, kAttentionBlock);
}

template <class T>
void forward_of(const AttentionForwardTile& x) {
  const int64_t C = x.head_dim, padded = padded_head_dim(C), G = x.group, num_rows = x.num_queries * G;
  Rows rows;
  rows.q = x.scratch;
  rows.o = rows.q + num_rows * padded;
  rows.s = rows.o + num_rows * padded;
  rows.max = rows.s + num_rows * kAttentionBlock;
  rows.sum = rows.max + num_rows + kLanes;
  rows.block_max = rows.sum + num_rows + kLanes;
  rows.alpha = rows.block_max + num_rows + kLanes;
  for (int64_t r = 0; r < num_rows; ++r) {
    widen_row(rows.q + r * padded, static_cast<const T*>(x.q) + r / G * x.q_stride + r % G * C, C);
  }
  for (int64_t i = 0; i < num_rows * padded; i += kLanes) store(rows.o + i, zero());
  for (int64_t r = 0; r < num_rows + kLanes; ++r) {
    rows.max[r] = rows.block_max[r] = -kInfinity;
    rows.sum[r] = 0.0f;
  }
  const int64_t last_block = (x.first_position + x.num_queries - 1) / kAttentionBlock;
  for (int64_t block = 0; block <= last_block; ++block) visit_block<T>(x, rows, block);
  for (int64_t r = 0; r < num_rows; ++r) {
    store_scaled(static_cast<T*>(x.o) + r / G * x.o_stride + r % G * C, rows.o + r * padded, 1.0f / rows.sum[r], C);
    if (x.lse != nullptr) {
      x.lse[r / G * x.lse_stride + r % G] = static_cast<float>(static_cast<double>(rows.max[r]) + log_of(rows.sum[r]));
    }
  }
}

void forward(const AttentionForwardTile& x) {
  if (x.bf16) {
    forward_of<uint16_t>(x);
  } else {
    forward_of<float>(x);
  }
}

void add_parts(float* out, const float* const* parts, int64_t num_parts, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const int count = static_cast<int>(n - i < kLanes ? n - i : kLanes);
    Vec total = load_n(parts[0] + i, count);
    for (int64_t p = 1; p < num_parts; ++p) total = total + load_n(parts[p] + i, count);
    put(out + i, total + load_n(out + i, count), count);
  }
}

}  // namespace

const AttentionKernels kAttentionKernels = {forward, attention_block_forms, attention_backward, add_parts};

}  // namespace hone::kernels::cpu::HONE_TARGET
