// The invariants of cutting, and that work is dealt out evenly.
#include "train/micro_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/random.h"

namespace hone {
namespace {

TEST(MicroBatches, RowsAndSharedRowsAreWithinTheBudget) {
  const std::vector<SequenceRows> family = {{10, 0}, {12, 8}, {9, 8}, {10, 8}, {20, 0}};
  const auto sizes = [&](int64_t budget) {
    std::vector<size_t> result;
    for (const MicroBatch& micro : cut_micro_batches(family, {budget, 0})) result.push_back(micro.end - micro.begin);
    return result;
  };
  EXPECT_EQ(sizes(37), (std::vector<size_t>{5}));  // 10 + 4 + 1 + 2 + 20
  EXPECT_EQ(sizes(36), (std::vector<size_t>{4, 1}));
  EXPECT_EQ(sizes(23), (std::vector<size_t>{3, 1, 1}));     // a third share of 8 would be 24
  EXPECT_EQ(sizes(13), (std::vector<size_t>{1, 2, 1, 1}));  // the second computes its prompt again: 12, then 1
  EXPECT_EQ(sizes(1), (std::vector<size_t>{1, 1, 1, 1, 1}));
}

TEST(MicroBatches, AreBalancedWithinTheBudget) {
  const auto sums = [](const std::vector<SequenceRows>& rows, const MicroBatchLimits& limits) {
    std::vector<int64_t> result;
    const BalancedMicroBatches balanced = balance_micro_batches(rows, limits, 64);
    for (const MicroBatch& micro : balanced.batches) {
      int64_t sum = 0;
      for (size_t i = micro.begin; i < micro.end; ++i) sum += rows[balanced.order[i]].rows;
      result.push_back(sum);
    }
    return result;
  };
  const std::vector<SequenceRows> mixed = {{90, 0}, {80, 0}, {20, 0}, {10, 0}};  // in order: 90, 80 + 20, 10
  EXPECT_EQ(sums(mixed, {100, 0}), (std::vector<int64_t>{100, 100}));
  EXPECT_EQ(sums(mixed, {1000, 0}), (std::vector<int64_t>{200}));
  EXPECT_EQ(sums(mixed, {1000, 2}), (std::vector<int64_t>{100, 100}));
  EXPECT_EQ(sums(mixed, {1, 0}), (std::vector<int64_t>{90, 80, 20, 10}));
  EXPECT_EQ(sums({}, {1, 0}), (std::vector<int64_t>{}));
  EXPECT_EQ(sums({{4, 0}, {25, 0}, {4, 0}}, {10, 0}), (std::vector<int64_t>{8, 25})) << "one beyond the budget";
}

TEST(MicroBatches, HoldEverySequenceOnceAndTheBudgetForRandomFamilies) {
  for (uint32_t round = 0; round < 200; ++round) {
    const auto below = [&](uint32_t stream, uint32_t i, uint32_t bound) {
      return static_cast<int64_t>(random_below({5, Stream::test}, round, stream, i, bound));
    };
    std::vector<SequenceRows> rows;
    while (rows.size() < 40) {
      const int64_t prompt = 1 + below(0, static_cast<uint32_t>(rows.size()), 30);
      for (int64_t k = 0; k < 1 + below(1, static_cast<uint32_t>(rows.size()), 6); ++k) {
        rows.push_back({prompt + 1 + below(2, static_cast<uint32_t>(rows.size()), 40), k == 0 ? 0 : prompt});
      }
    }
    const MicroBatchLimits limits{10 + below(3, 0, 200), below(4, 0, 7)};
    const BalancedMicroBatches balanced = balance_micro_batches(rows, limits, 64);
    EXPECT_LE(balanced.batches.size(), cut_micro_batches(rows, limits).size());
    std::vector<size_t> seen;
    for (const MicroBatch& micro : balanced.batches) {
      ASSERT_EQ(micro.begin, seen.size());
      ASSERT_LT(micro.begin, micro.end);
      int64_t computed = 0, shared = 0;
      for (size_t i = micro.begin; i < micro.end; ++i) {
        const size_t s = balanced.order[i];
        if (i > micro.begin) {
          EXPECT_LT(seen.back(), s);
        }
        // a neighbour of old that still is one
        const int64_t common = i > micro.begin && seen.back() + 1 == s ? rows[s].shared : 0;
        computed += rows[s].rows - common;
        shared += common;
        seen.push_back(s);
      }
      if (micro.end - micro.begin == 1) continue;
      EXPECT_LE(computed, limits.tokens);
      EXPECT_LE(shared, limits.tokens);
      if (limits.sequences > 0) {
        EXPECT_LE(static_cast<int64_t>(micro.end - micro.begin), limits.sequences);
      }
    }
    std::sort(seen.begin(), seen.end());
    for (size_t s = 0; s < rows.size(); ++s) ASSERT_EQ(seen[s], s);
  }
}

}  // namespace
}  // namespace hone
