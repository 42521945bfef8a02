// Where attention and kv_write read and write.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/attention_test_cases.h"

namespace hone::kernels::attention_test {
namespace {

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
}  // namespace hone::kernels::attention_test
