// What the tests of attention share: sequences of random inputs, a cache full of NaN, ways through the operations, and
// the error that float arithmetic may make.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/buffer.h"
#include "core/random.h"
#include "kernels/attention.h"
#include "kernels/reference/attention.h"

namespace hone::kernels::attention_test {

constexpr double kUnit = 1.0 / (1 << 24);  // unit roundoff of float
constexpr double kUnitBf16 = 1.0 / (1 << 8);
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Heads {
  int64_t num_kv_heads = 1, group = 1, head_dim = 16;
  int64_t num_heads() const { return num_kv_heads * group; }
  int64_t q_columns() const { return num_heads() * head_dim; }
  int64_t kv_columns() const { return num_kv_heads * head_dim; }
  float scale() const { return 1.0f / std::sqrt(static_cast<float>(head_dim)); }
};

// Float values that bf16 holds exactly, if asked.
inline Buffer<float> random_values(int64_t n, uint64_t draw, DType dtype, float size = 1) {
  Buffer<float> x(n);
  for (int64_t i = 0; i < n; ++i) {
    x[i] = size * random_normal({7, Stream::test}, draw, 0, static_cast<uint32_t>(i));
    if (dtype == DType::bf16) x[i] = static_cast<float>(bf16(x[i]));
  }
  return x;
}

// A matrix in the compute dtype.
struct Matrix {
  Matrix(int64_t rows_, int64_t cols_, DType dtype_)
      : rows(rows_), cols(cols_), dtype(dtype_), data(rows_ * cols_ * size_bytes(dtype_)) {}
  Matrix(const Buffer<float>& x, int64_t rows_, int64_t cols_, DType dtype_) : Matrix(rows_, cols_, dtype_) {
    for (int64_t i = 0; i < rows * cols; ++i) {
      if (dtype == DType::bf16) {
        reinterpret_cast<bf16*>(data.data())[i] = bf16(x[i]);
      } else {
        reinterpret_cast<float*>(data.data())[i] = x[i];
      }
    }
  }
  ComputeView view() { return {data.data(), dtype, rows, cols}; }
  double at(int64_t i) const {
    return dtype == DType::bf16 ? static_cast<double>(static_cast<float>(reinterpret_cast<const bf16*>(data.data())[i]))
                                : static_cast<double>(reinterpret_cast<const float*>(data.data())[i]);
  }
  int64_t rows, cols;
  DType dtype;
  Buffer<char> data;
};

// A cache whose slots all hold NaN until written.
struct Cache {
  Cache(const Heads& heads, int64_t num_blocks, DType dtype) {
    layer.dtype = dtype;
    layer.num_blocks = num_blocks;
    layer.num_kv_heads = heads.num_kv_heads;
    layer.head_dim = heads.head_dim;
    keys = Buffer<char>(num_blocks * layer.block_elements() * size_bytes(dtype));
    values = Buffer<char>(keys.size());
    std::memset(keys.data(), 0xff, static_cast<size_t>(keys.size()));  // every element a NaN
    std::memset(values.data(), 0xff, static_cast<size_t>(values.size()));
    layer.keys = keys.data();
    layer.values = values.data();
  }
  Buffer<char> keys, values;
  KvLayer layer;
};

// One sequence of `length` tokens: its inputs and, on demand, its results by different ways through the operations.
struct Sequence {
  Sequence(const Heads& heads_, int64_t length_, DType dtype_, uint64_t draw = 1)
      : heads(heads_),
        length(length_),
        dtype(dtype_),
        q(random_values(length * heads.q_columns(), 10 * draw, dtype, 1.5f)),
        k(random_values(length * heads.kv_columns(), 10 * draw + 1, dtype, 1.5f)),
        v(random_values(length * heads.kv_columns(), 10 * draw + 2, dtype)),
        d_o(random_values(length * heads.q_columns(), 10 * draw + 3, DType::f32)) {}
  reference::AttentionShape shape() const {
    return {length, length, heads.num_heads(), heads.num_kv_heads, heads.head_dim, heads.scale()};
  }
  Heads heads;
  int64_t length;
  DType dtype;
  Buffer<float> q, k, v, d_o;
};

struct Forward {
  Buffer<char> o;  // [T, HqC] compute dtype
  Buffer<float> lse;
};
struct Gradients {
  Buffer<float> dq, dk, dv;
};

template <class T>
void expect_same_bits(const Buffer<T>& a, const Buffer<T>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size_bytes())), 0) << what;
}
inline void expect_same(const Forward& a, const Forward& b, const std::string& what) {
  expect_same_bits(a.o, b.o, what + ": o");
  expect_same_bits(a.lse, b.lse, what + ": lse");
}
inline void expect_same(const Gradients& a, const Gradients& b, const std::string& what) {
  expect_same_bits(a.dq, b.dq, what + ": dq");
  expect_same_bits(a.dk, b.dk, what + ": dk");
  expect_same_bits(a.dv, b.dv, what + ": dv");
}

struct Layout {
  std::vector<int32_t> cu_seqlens = {0}, context_lens, block_table;
  int64_t max_blocks = 0;
  SequenceTable table() const { return {cu_seqlens, context_lens, block_table, max_blocks}; }
};
inline int64_t blocks_of(int64_t length) { return (length + kKvBlock - 1) / kKvBlock; }

// Writes tokens [begin, begin + count) of a sequence to the cache through a row of blocks.
inline void write(Context& ctx, const Cache& cache, const Sequence& x, int64_t begin, int64_t count,
                  const int32_t* blocks) {
  std::vector<int32_t> slots;
  for (int64_t t = begin; t < begin + count; ++t) {
    slots.push_back(blocks[t / kKvBlock] * static_cast<int32_t>(kKvBlock) + static_cast<int32_t>(t % kKvBlock));
  }
  Matrix k(x.k, x.length, x.heads.kv_columns(), x.dtype), v(x.v, x.length, x.heads.kv_columns(), x.dtype);
  kv_write(ctx, cache.layer, k.view().slice_rows(begin, count), v.view().slice_rows(begin, count), slots);
}

// Runs the sequence in chunks; chunk c is written to the cache just before it is attended.
inline Forward run_in_chunks(Context& ctx, const Sequence& x, const std::vector<int64_t>& chunks,
                             const std::vector<int32_t>& blocks, int64_t num_blocks) {
  Cache cache(x.heads, num_blocks, x.dtype);
  Matrix q(x.q, x.length, x.heads.q_columns(), x.dtype), o(x.length, x.heads.q_columns(), x.dtype);
  Forward result{Buffer<char>(), Buffer<float>(x.length * x.heads.num_heads())};
  const View<float> lse = result.lse.view(x.length, x.heads.num_heads());
  int64_t begin = 0;
  for (const int64_t count : chunks) {
    write(ctx, cache, x, begin, count, blocks.data());
    const std::vector<int32_t> offsets = {0, static_cast<int32_t>(count)};
    const std::vector<int32_t> context = {static_cast<int32_t>(begin + count)};
    attention_forward(ctx, o.view().slice_rows(begin, count), lse.slice_rows(begin, count),
                      q.view().slice_rows(begin, count), cache.layer,
                      {offsets, context, blocks, static_cast<int64_t>(blocks.size())}, x.heads.scale());
    begin += count;
  }
  EXPECT_EQ(begin, x.length);
  result.o = std::move(o.data);
  return result;
}

inline std::vector<int32_t> counting(int64_t n) {
  std::vector<int32_t> blocks(static_cast<size_t>(n));
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<int32_t>(i);
  return blocks;
}

inline Forward run_whole(Context& ctx, const Sequence& x) {
  return run_in_chunks(ctx, x, {x.length}, counting(blocks_of(x.length)), blocks_of(x.length));
}

inline Gradients run_backward(Context& ctx, const Sequence& x) {
  Forward forward = run_whole(ctx, x);
  Cache cache(x.heads, blocks_of(x.length), x.dtype);
  const std::vector<int32_t> blocks = counting(blocks_of(x.length));
  write(ctx, cache, x, 0, x.length, blocks.data());
  Matrix q(x.q, x.length, x.heads.q_columns(), x.dtype);
  const ConstComputeView o(forward.o.data(), x.dtype, x.length, x.heads.q_columns());
  const int64_t q_columns = x.heads.q_columns(), kv_columns = x.heads.kv_columns();
  Gradients g{Buffer<float>(x.length * q_columns), Buffer<float>(x.length * kv_columns),
              Buffer<float>(x.length * kv_columns)};
  for (auto* buffer : {&g.dq, &g.dk, &g.dv}) std::fill(buffer->begin(), buffer->end(), kNaN);  // overwritten, not added
  const std::vector<int32_t> offsets = {0, static_cast<int32_t>(x.length)};
  const std::vector<int32_t> context = {static_cast<int32_t>(x.length)};
  attention_backward(ctx, g.dq.view(x.length, q_columns), g.dk.view(x.length, kv_columns),
                     g.dv.view(x.length, kv_columns), x.d_o.view(x.length, q_columns), o, q.view(), cache.layer,
                     forward.lse.view(x.length, x.heads.num_heads()),
                     {offsets, context, blocks, static_cast<int64_t>(blocks.size())}, x.heads.scale());
  return g;
}

inline std::vector<double> doubles(const Buffer<float>& x) { return {x.begin(), x.end()}; }

inline double score_bound(const Sequence& x, int64_t t, int64_t h, int64_t j) {  // scale * sum |q k|
  const int64_t C = x.heads.head_dim;
  double total = 0;
  for (int64_t c = 0; c < C; ++c) {
    total += std::abs(static_cast<double>(x.q[(t * x.heads.num_heads() + h) * C + c]) *
                      static_cast<double>(x.k[(j * x.heads.num_kv_heads + h / x.heads.group) * C + c]));
  }
  return x.heads.scale() * total;
}

// Relative error of a softmax weight of row (t, h). A score is C fused steps and two products by scale: (C + 2) units
// of score_bound, in the numerator and in the sum; s - max loses a unit of at most twice score_bound; e^x is good to 2
// units; a sum of n positive terms loses n units and each of the nb blocks 4 more (rescaling by e^(m - m')).
inline double weight_error(const Sequence& x, int64_t t, int64_t h) {
  double largest = 0;
  for (int64_t j = 0; j <= t; ++j) largest = std::max(largest, score_bound(x, t, h, j));
  const auto n = static_cast<double>(t + 1);
  return kUnit * (2 * (static_cast<double>(x.heads.head_dim) + 4) * largest + n + 4 * (n / 32 + 1) + 8);
}

inline std::vector<const cpu::Target*> supported_targets() {
  std::vector<const cpu::Target*> targets;
  for (const cpu::Target& target : cpu::all_targets()) {
    if (target.supported()) targets.push_back(&target);
  }
  return targets;
}

}  // namespace hone::kernels::attention_test
