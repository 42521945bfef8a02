#include "kernels/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/buffer.h"
#include "core/random.h"
#include "kernels/reference/attention.h"

namespace hone::kernels {
namespace {

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
Buffer<float> random_values(int64_t n, uint64_t draw, DType dtype, float size = 1) {
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
void expect_same(const Forward& a, const Forward& b, const std::string& what) {
  expect_same_bits(a.o, b.o, what + ": o");
  expect_same_bits(a.lse, b.lse, what + ": lse");
}
void expect_same(const Gradients& a, const Gradients& b, const std::string& what) {
  expect_same_bits(a.dq, b.dq, what + ": dq");
  expect_same_bits(a.dk, b.dk, what + ": dk");
  expect_same_bits(a.dv, b.dv, what + ": dv");
}

struct Layout {
  std::vector<int32_t> cu_seqlens = {0}, context_lens, block_table;
  int64_t max_blocks = 0;
  SequenceTable table() const { return {cu_seqlens, context_lens, block_table, max_blocks}; }
};
int64_t blocks_of(int64_t length) { return (length + kKvBlock - 1) / kKvBlock; }

// Writes tokens [begin, begin + count) of a sequence to the cache through a row of blocks.
void write(Context& ctx, const Cache& cache, const Sequence& x, int64_t begin, int64_t count, const int32_t* blocks) {
  std::vector<int32_t> slots;
  for (int64_t t = begin; t < begin + count; ++t) {
    slots.push_back(blocks[t / kKvBlock] * static_cast<int32_t>(kKvBlock) + static_cast<int32_t>(t % kKvBlock));
  }
  Matrix k(x.k, x.length, x.heads.kv_columns(), x.dtype), v(x.v, x.length, x.heads.kv_columns(), x.dtype);
  kv_write(ctx, cache.layer, k.view().slice_rows(begin, count), v.view().slice_rows(begin, count), slots);
}

// Runs the sequence in chunks; chunk c is written to the cache just before it is attended.
Forward run_in_chunks(Context& ctx, const Sequence& x, const std::vector<int64_t>& chunks,
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

std::vector<int32_t> counting(int64_t n) {
  std::vector<int32_t> blocks(static_cast<size_t>(n));
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<int32_t>(i);
  return blocks;
}

Forward run_whole(Context& ctx, const Sequence& x) {
  return run_in_chunks(ctx, x, {x.length}, counting(blocks_of(x.length)), blocks_of(x.length));
}

Gradients run_backward(Context& ctx, const Sequence& x) {
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

std::vector<double> doubles(const Buffer<float>& x) { return {x.begin(), x.end()}; }

double score_bound(const Sequence& x, int64_t t, int64_t h, int64_t j) {  // scale * sum |q k|
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
double weight_error(const Sequence& x, int64_t t, int64_t h) {
  double largest = 0;
  for (int64_t j = 0; j <= t; ++j) largest = std::max(largest, score_bound(x, t, h, j));
  const auto n = static_cast<double>(t + 1);
  return kUnit * (2 * (static_cast<double>(x.heads.head_dim) + 4) * largest + n + 4 * (n / 32 + 1) + 8);
}

void expect_forward_near_reference(Context& ctx, const Sequence& x) {
  const Forward got = run_whole(ctx, x);
  const int64_t C = x.heads.head_dim, Hq = x.heads.num_heads();
  std::vector<double> o(static_cast<size_t>(x.length * Hq * C)), lse(static_cast<size_t>(x.length * Hq));
  reference::attention_forward(o, lse, doubles(x.q), doubles(x.k), doubles(x.v), x.shape());
  double largest_v = 0;
  for (const float v : x.v) largest_v = std::max(largest_v, static_cast<double>(std::abs(v)));
  Matrix got_o(x.length, Hq * C, x.dtype);
  std::memcpy(got_o.data.data(), got.o.data(), static_cast<size_t>(got.o.size()));
  for (int64_t row = 0; row < x.length * Hq; ++row) {
    const double error = weight_error(x, row / Hq, row % Hq);
    const auto r = static_cast<size_t>(row);
    // log turns the relative error of the sum into an absolute one; the result is rounded to float.
    ASSERT_NEAR(static_cast<double>(got.lse[row]), lse[r], error + 2 * kUnit * std::abs(lse[r])) << "row " << row;
    for (int64_t c = 0; c < C; ++c) {
      const double expected = o[r * static_cast<size_t>(C) + static_cast<size_t>(c)];
      const double rounding = x.dtype == DType::bf16 ? kUnitBf16 * std::abs(expected) : 0;
      ASSERT_NEAR(got_o.at(row * C + c), expected, 2 * error * largest_v + rounding)
          << "row " << row << " channel " << c << " length " << x.length << " G " << x.heads.group << " C " << C;
    }
  }
}

std::vector<const cpu::Target*> supported_targets() {
  std::vector<const cpu::Target*> targets;
  for (const cpu::Target& target : cpu::all_targets()) {
    if (target.supported()) targets.push_back(&target);
  }
  return targets;
}

TEST(Attention, ForwardNearReferenceForAllLengths) {
  Context ctx(2);
  for (int64_t length = 1; length <= 70; ++length) {
    expect_forward_near_reference(ctx, Sequence({1, 3, 20}, length, DType::f32, 100 + static_cast<uint64_t>(length)));
  }
}

TEST(Attention, ForwardNearReferenceForAllHeadShapes) {
  for (const cpu::Target* target : supported_targets()) {
    Context ctx(2, *target);
    for (int64_t C : {2, 4, 6, 8, 10, 14, 16, 18, 20, 30, 32, 34, 48, 62, 64, 66, 128}) {
      for (int64_t G : {1, 2, 3, 4, 8}) {
        for (DType dtype : {DType::f32, DType::bf16})
          expect_forward_near_reference(ctx, Sequence({2, G, C}, 41, dtype));
      }
    }
  }
}

TEST(Attention, ManyQueryHeadsOfOneKvHead) {
  Context ctx(2);
  for (int64_t G : {5, 6, 7, 49, 64}) expect_forward_near_reference(ctx, Sequence({1, G, 16}, 40, DType::f32));
}

TEST(Attention, ForwardHasTheSameBitsHoweverThePromptIsChunked) {
  for (const cpu::Target* target : supported_targets()) {
    Context ctx(2, *target);
    for (const Heads heads : {Heads{1, 1, 16}, Heads{2, 3, 64}, Heads{1, 4, 20}, Heads{1, 8, 128}, Heads{2, 2, 2}}) {
      for (DType dtype : {DType::f32, DType::bf16}) {
        const Sequence x(heads, 101, dtype);
        const std::vector<int32_t> blocks = counting(blocks_of(x.length));
        const int64_t n = blocks_of(x.length);
        const Forward whole = run_whole(ctx, x);
        expect_same(whole, run_in_chunks(ctx, x, std::vector<int64_t>(101, 1), blocks, n), "one by one");
        expect_same(whole, run_in_chunks(ctx, x, {64, 32, 5}, blocks, n), "chunks on blocks");
        expect_same(whole, run_in_chunks(ctx, x, {1, 30, 2, 33, 7, 27, 1}, blocks, n), "chunks off blocks");
        for (int64_t width : {2, 3, 5, 7, 11, 13, 16}) {
          std::vector<int64_t> chunks(static_cast<size_t>(101 / width), width);
          if (101 % width != 0) chunks.push_back(101 % width);
          expect_same(whole, run_in_chunks(ctx, x, chunks, blocks, n), "equal chunks");
        }
      }
    }
  }
}

TEST(Attention, ForwardHasTheSameBitsWhateverTheBlockNumbers) {
  Context ctx(2);
  const Sequence x({3, 3, 64}, 150, DType::f32);
  const Forward whole = run_whole(ctx, x);
  expect_same(whole, run_in_chunks(ctx, x, {150}, {7, 2, 9, 0, 4}, 10), "shuffled blocks");
  expect_same(whole, run_in_chunks(ctx, x, {100, 1, 49}, {4, 3, 2, 1, 0}, 5), "reversed blocks");
}

TEST(Attention, SameBitsOnAllTargetsAndForAllThreads) {
  for (const Heads heads : {Heads{1, 3, 64}, Heads{3, 1, 20}, Heads{2, 4, 6}}) {
    for (DType dtype : {DType::f32, DType::bf16}) {
      for (int64_t length : {1, 33, 127, 150}) {
        const Sequence x(heads, length, dtype);
        Context plain(1, cpu::find_target("scalar"));
        const Forward forward = run_whole(plain, x);
        const Gradients gradients = run_backward(plain, x);
        for (const cpu::Target* target : supported_targets()) {
          for (int threads : {1, 2, 4}) {
            Context ctx(threads, *target);
            const std::string what = fmt::format("{}, {} threads, length {}", target->name, threads, length);
            expect_same(forward, run_whole(ctx, x), what);
            expect_same(gradients, run_backward(ctx, x), what);
          }
        }
      }
    }
  }
}

// Several sequences of different lengths in one call, blocks interleaved, against each alone.
TEST(Attention, SequenceHasTheSameBitsAloneAndInABatch) {
  Context ctx(2);
  const Heads heads{3, 3, 64};
  std::vector<Sequence> all;
  Layout layout;
  for (int64_t length : {5, 0, 133, 1, 64, 260}) {
    all.emplace_back(heads, length, DType::f32, 20 + static_cast<uint64_t>(length));
    layout.cu_seqlens.push_back(layout.cu_seqlens.back() + static_cast<int32_t>(length));
    layout.context_lens.push_back(static_cast<int32_t>(length));
    layout.max_blocks = std::max(layout.max_blocks, blocks_of(length));
  }
  const auto S = static_cast<int64_t>(all.size()), num_blocks = S * layout.max_blocks;
  for (int64_t s = 0; s < S; ++s) {
    for (int64_t b = 0; b < layout.max_blocks; ++b) layout.block_table.push_back(static_cast<int32_t>(b * S + s));
  }
  const int64_t T = layout.cu_seqlens.back(), q_columns = heads.q_columns(), kv_columns = heads.kv_columns();
  Cache cache(heads, num_blocks, DType::f32);
  Buffer<float> q(T * q_columns), d_o(T * q_columns), o(T * q_columns), lse(T * heads.num_heads());
  for (int64_t s = 0; s < S; ++s) {
    const Sequence& x = all[static_cast<size_t>(s)];
    const int64_t t = layout.cu_seqlens[static_cast<size_t>(s)];
    std::copy(x.q.begin(), x.q.end(), q.data() + t * q_columns);
    std::copy(x.d_o.begin(), x.d_o.end(), d_o.data() + t * q_columns);
    write(ctx, cache, x, 0, x.length, layout.block_table.data() + s * layout.max_blocks);
  }
  Gradients g{Buffer<float>(T * q_columns), Buffer<float>(T * kv_columns), Buffer<float>(T * kv_columns)};
  const View<float> o_view = o.view(T, q_columns), lse_view = lse.view(T, heads.num_heads());
  attention_forward(ctx, o_view, lse_view, View<const float>(q.view(T, q_columns)), cache.layer, layout.table(),
                    heads.scale());
  attention_backward(ctx, g.dq.view(T, q_columns), g.dk.view(T, kv_columns), g.dv.view(T, kv_columns),
                     d_o.view(T, q_columns), View<const float>(o_view), View<const float>(q.view(T, q_columns)),
                     cache.layer, lse_view, layout.table(), heads.scale());
  const auto part = [](const Buffer<float>& x, int64_t begin, int64_t size) {
    Buffer<float> copy(size);
    std::copy_n(x.data() + begin, size, copy.data());
    return copy;
  };
  for (int64_t s = 0; s < S; ++s) {
    const Sequence& x = all[static_cast<size_t>(s)];
    if (x.length == 0) continue;
    const int64_t t = layout.cu_seqlens[static_cast<size_t>(s)], n = x.length;
    const std::string what = fmt::format("sequence {}", s);
    const Forward alone = run_whole(ctx, x);
    EXPECT_EQ(std::memcmp(alone.o.data(), o.data() + t * q_columns, static_cast<size_t>(alone.o.size())), 0) << what;
    expect_same_bits(alone.lse, part(lse, t * heads.num_heads(), n * heads.num_heads()), what);
    expect_same(run_backward(ctx, x),
                Gradients{part(g.dq, t * q_columns, n * q_columns), part(g.dk, t * kv_columns, n * kv_columns),
                          part(g.dv, t * kv_columns, n * kv_columns)},
                what);
  }
}

TEST(Attention, WhatStandsBeyondAPositionCountsForNothing) {
  Context ctx(1);
  const Sequence x({1, 3, 20}, 77, DType::f32);
  const Forward whole = run_whole(ctx, x);
  Sequence poisoned(x.heads, x.length, x.dtype);
  for (int64_t i = 50 * x.heads.kv_columns(); i < poisoned.k.size(); ++i) poisoned.k[i] = poisoned.v[i] = kNaN;
  const Forward got = run_whole(ctx, poisoned);
  const auto clean_bytes = static_cast<size_t>(50 * x.heads.q_columns()) * sizeof(float);
  EXPECT_EQ(std::memcmp(whole.o.data(), got.o.data(), clean_bytes), 0);
  EXPECT_TRUE(std::isnan(reinterpret_cast<const float*>(got.o.data())[50 * x.heads.q_columns()]));
}

TEST(Attention, ReferenceGradientsMatchFiniteDifferences) {
  const Sequence x({2, 2, 6}, 7, DType::f32);
  std::vector<double> inputs[3] = {doubles(x.q), doubles(x.k), doubles(x.v)};
  const std::vector<double> d_o = doubles(x.d_o);
  std::vector<double> o(d_o.size()), lse(static_cast<size_t>(x.length * x.heads.num_heads()));
  std::vector<double> gradients[3] = {inputs[0], inputs[1], inputs[2]};
  reference::attention_backward(gradients[0], gradients[1], gradients[2], d_o, inputs[0], inputs[1], inputs[2],
                                x.shape());
  const auto loss = [&] {
    reference::attention_forward(o, lse, inputs[0], inputs[1], inputs[2], x.shape());
    double total = 0;
    for (size_t i = 0; i < o.size(); ++i) total += o[i] * d_o[i];
    return total;
  };
  constexpr double kStep = 1e-5;  // error kStep^2 * third derivative (about 10) + 1e-15 / kStep
  for (int input = 0; input < 3; ++input) {
    for (size_t i = 0; i < inputs[input].size(); ++i) {
      const double value = inputs[input][i];
      inputs[input][i] = value + kStep;
      const double above = loss();
      inputs[input][i] = value - kStep;
      const double below = loss();
      inputs[input][i] = value;
      EXPECT_NEAR(gradients[input][i], (above - below) / (2 * kStep), 1e-8) << "input " << input << " element " << i;
    }
  }
}

// What each gradient would be with every term positive: the size against which errors are relative. The largest
// relative error of a term of ds: the weight's, the C steps of dp and delta, delta's o (rounded to the compute dtype).
struct Magnitudes {
  std::vector<double> dq, dk, dv;
  double error = 0;
};
Magnitudes magnitudes_of(const Sequence& x) {
  const int64_t C = x.heads.head_dim, Hq = x.heads.num_heads(), Hk = x.heads.num_kv_heads;
  Magnitudes m{std::vector<double>(static_cast<size_t>(x.q.size())),
               std::vector<double>(static_cast<size_t>(x.k.size())),
               std::vector<double>(static_cast<size_t>(x.k.size())), 0};
  for (int64_t t = 0; t < x.length; ++t) {
    for (int64_t h = 0; h < Hq; ++h) {
      m.error = std::max(m.error, weight_error(x, t, h));
      std::vector<double> p(static_cast<size_t>(t + 1)), dp(p.size());
      double sum = 0, delta = 0;
      for (int64_t j = 0; j <= t; ++j) {
        double s = 0;
        for (int64_t c = 0; c < C; ++c) {
          const int64_t row = (t * Hq + h) * C + c, key = (j * Hk + h / x.heads.group) * C + c;
          s += static_cast<double>(x.q[row]) * static_cast<double>(x.k[key]);
          dp[static_cast<size_t>(j)] += std::abs(static_cast<double>(x.d_o[row]) * static_cast<double>(x.v[key]));
        }
        sum += p[static_cast<size_t>(j)] = std::exp(s * x.heads.scale());
      }
      for (size_t j = 0; j < p.size(); ++j) delta += (p[j] /= sum) * dp[j];
      for (int64_t j = 0; j <= t; ++j) {
        const auto i = static_cast<size_t>(j);
        for (int64_t c = 0; c < C; ++c) {
          const int64_t row = (t * Hq + h) * C + c, key = (j * Hk + h / x.heads.group) * C + c;
          const double ds = x.heads.scale() * p[i] * (dp[i] + delta);
          m.dv[static_cast<size_t>(key)] += p[i] * static_cast<double>(std::abs(x.d_o[row]));
          m.dq[static_cast<size_t>(row)] += ds * static_cast<double>(std::abs(x.k[key]));
          m.dk[static_cast<size_t>(key)] += ds * static_cast<double>(std::abs(x.q[row]));
        }
      }
    }
  }
  // p = e^(s - lse): lse's rounding adds its units, below score_bound + log n and so within weight_error again.
  m.error = 4 * m.error + kUnit * static_cast<double>(C + x.length * x.heads.group + 16) +
            (x.dtype == DType::bf16 ? kUnitBf16 : 0);
  return m;
}

void expect_gradients_near_reference(Context& ctx, const Sequence& x) {
  const Gradients got = run_backward(ctx, x);
  std::vector<double> dq(static_cast<size_t>(x.q.size())), dk(static_cast<size_t>(x.k.size())), dv(dk.size());
  reference::attention_backward(dq, dk, dv, doubles(x.d_o), doubles(x.q), doubles(x.k), doubles(x.v), x.shape());
  const Magnitudes m = magnitudes_of(x);
  const auto compare = [&](const Buffer<float>& a, const std::vector<double>& b, const std::vector<double>& size,
                           const char* what) {
    for (size_t i = 0; i < b.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(a[static_cast<int64_t>(i)]), b[i], m.error * size[i])
          << what << "[" << i << "], length " << x.length << " G " << x.heads.group << " C " << x.heads.head_dim;
    }
  };
  compare(got.dq, dq, m.dq, "dq");
  compare(got.dk, dk, m.dk, "dk");
  compare(got.dv, dv, m.dv, "dv");
}

TEST(Attention, BackwardNearReferenceForAllLengths) {
  Context ctx(2);
  for (int64_t length = 1; length <= 70; ++length) {
    expect_gradients_near_reference(ctx, Sequence({1, 3, 20}, length, DType::f32, 200 + static_cast<uint64_t>(length)));
  }
  for (int64_t length : {127, 128, 129, 160, 191, 250}) {
    expect_gradients_near_reference(ctx, Sequence({2, 2, 16}, length, DType::f32));
  }
}

TEST(Attention, BackwardNearReferenceForAllHeadShapes) {
  for (const cpu::Target* target : supported_targets()) {
    Context ctx(2, *target);
    for (int64_t C : {2, 6, 16, 18, 20, 34, 64, 128}) {
      for (int64_t G : {1, 2, 3, 4, 8}) {
        for (DType dtype : {DType::f32, DType::bf16}) {
          expect_gradients_near_reference(ctx, Sequence({2, G, C}, 41, dtype));
        }
      }
    }
  }
}

TEST(Attention, KvWriteReachesItsSlotsAlone) {
  Context ctx(2);
  const Heads heads{2, 1, 4};
  for (DType dtype : {DType::f32, DType::bf16}) {
    const Sequence x(heads, 5, dtype);
    Cache cache(heads, 3, dtype);
    Matrix k(x.k, 5, heads.kv_columns(), dtype), v(x.v, 5, heads.kv_columns(), dtype);
    const std::vector<int32_t> slots = {95, 31, 32, 33, 2};  // a run over the end of a block, and single ones
    kv_write(ctx, cache.layer, k.view(), v.view(), slots);
    Matrix keys(3 * 2 * 4, kKvBlock, dtype), values(3 * 2 * kKvBlock, 4, dtype);
    std::memcpy(keys.data.data(), cache.keys.data(), static_cast<size_t>(cache.keys.size()));
    std::memcpy(values.data.data(), cache.values.data(), static_cast<size_t>(cache.values.size()));
    int64_t written = 0;
    for (int64_t i = 0; i < keys.rows * keys.cols; ++i) written += std::isnan(keys.at(i)) ? 0 : 1;
    for (int64_t i = 0; i < keys.rows * keys.cols; ++i) written += std::isnan(values.at(i)) ? 0 : 1;
    EXPECT_EQ(written, 2 * 5 * heads.kv_columns());
    for (int64_t t = 0; t < 5; ++t) {
      const int64_t block = slots[static_cast<size_t>(t)] / 32, lane = slots[static_cast<size_t>(t)] % 32;
      for (int64_t h = 0; h < 2; ++h) {
        for (int64_t c = 0; c < 4; ++c) {
          const auto expected_k = static_cast<double>(x.k[t * 8 + h * 4 + c]);
          const auto expected_v = static_cast<double>(x.v[t * 8 + h * 4 + c]);
          EXPECT_EQ(keys.at(((block * 2 + h) * 4 + c) * 32 + lane), expected_k);
          EXPECT_EQ(values.at(((block * 2 + h) * 32 + lane) * 4 + c), expected_v);
        }
      }
    }
  }
}

TEST(Attention, ReadsAndWritesViewsWithStrides) {
  Context ctx(2);
  const Sequence x({2, 3, 20}, 50, DType::f32);
  const Forward whole = run_whole(ctx, x);
  const int64_t columns = x.heads.q_columns(), wide = columns + 24;
  Cache cache(x.heads, 2, DType::f32);
  const std::vector<int32_t> blocks = {0, 1}, offsets = {0, 50}, context = {50};
  write(ctx, cache, x, 0, 50, blocks.data());
  Buffer<float> q(50 * wide), o(50 * wide);
  std::fill(o.begin(), o.end(), -7.0f);
  for (int64_t t = 0; t < 50; ++t) std::copy_n(x.q.data() + t * columns, columns, q.data() + t * wide + 16);
  const View<float> no_lse;
  attention_forward(ctx, o.view(50, wide).slice_cols(8, columns), no_lse,
                    View<const float>(q.view(50, wide)).slice_cols(16, columns), cache.layer,
                    {offsets, context, blocks, 2}, x.heads.scale());
  const auto* expected = reinterpret_cast<const float*>(whole.o.data());
  for (int64_t t = 0; t < 50; ++t) {
    for (int64_t c = 0; c < wide; ++c) {
      const bool inside = c >= 8 && c < 8 + columns;
      ASSERT_EQ(o[t * wide + c], inside ? expected[t * columns + c - 8] : -7.0f);
    }
  }
}

}  // namespace
}  // namespace hone::kernels
