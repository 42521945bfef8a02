// Attention forward: near the reference, and the same bits whatever stands around a row.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/attention_test_cases.h"

namespace hone::kernels::attention_test {
namespace {

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

}  // namespace
}  // namespace hone::kernels::attention_test
