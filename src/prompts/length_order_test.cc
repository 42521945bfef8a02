#include "prompts/length_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "prompts/row_order.h"

namespace hone {
namespace {

constexpr int64_t kRows = 103, kBatch = 8;
constexpr uint64_t kSeed = 5;

// Expected lengths from 10 to 1030, all different.
LengthEstimates known_lengths() {
  LengthEstimates lengths(kRows, 0.7, 100);
  for (uint32_t row = 0; row < kRows; ++row) {
    const std::vector<AnswerLength> answers{{10 * (1 + int64_t{row} * 37 % kRows)}};
    lengths.observe(row, answers);
  }
  return lengths;
}

std::vector<uint32_t> order_of(const LengthEstimates& lengths, const LengthOrderOptions& options, uint64_t epoch = 3,
                               uint64_t seed = kSeed) {
  return length_aware_order(epoch_order(kRows, true, seed, epoch), lengths, kBatch, options, seed, epoch);
}

std::vector<std::vector<int64_t>> buckets_of_batches(const std::vector<uint32_t>& order, const LengthEstimates& lengths,
                                                     int64_t bucket_size) {
  std::vector<std::vector<int64_t>> batches(kRows / kBatch);
  for (size_t i = 0; i < batches.size() * kBatch; ++i) {
    batches[i / kBatch].push_back(static_cast<int64_t>(lengths.expected(order[i])) / bucket_size);
  }
  return batches;
}

TEST(LengthOrder, EachRowIsThereOnceWhateverTheOptions) {
  const LengthEstimates lengths = known_lengths();
  for (const int64_t bucket : {1, 64, 512, 100000}) {
    for (const bool random : {false, true}) {
      for (const bool shuffle : {false, true}) {
        std::vector<uint32_t> order = order_of(lengths, {bucket, random, shuffle});
        const std::vector<uint32_t> plain = epoch_order(kRows, true, kSeed, 3);
        const int64_t left_over = kRows % kBatch;
        EXPECT_TRUE(std::equal(order.end() - left_over, order.end(), plain.end() - left_over))
            << "what fills no batch is left over at random";
        std::sort(order.begin(), order.end());
        EXPECT_EQ(order, epoch_order(kRows, false, kSeed, 3));
      }
    }
  }
}

TEST(LengthOrder, BatchesAreSlicesOfTheSortedBuckets) {
  const LengthEstimates lengths = known_lengths();
  auto batches = buckets_of_batches(order_of(lengths, {64, true, true}), lengths, 64);
  EXPECT_FALSE(std::is_sorted(batches.begin(), batches.end())) << "short and long batches take turns";
  for (const auto& batch : batches) EXPECT_TRUE(std::is_sorted(batch.begin(), batch.end()));
  std::sort(batches.begin(), batches.end());
  for (size_t b = 1; b < batches.size(); ++b) EXPECT_GE(batches[b].front(), batches[b - 1].back());
  batches = buckets_of_batches(order_of(lengths, {64, true, false}), lengths, 64);
  EXPECT_TRUE(std::is_sorted(batches.begin(), batches.end()));
}

TEST(LengthOrder, InsideABucketTheOrderIsRandomOrThatOfTheEstimates) {
  const LengthEstimates lengths = known_lengths();
  const auto by_length = [&](uint32_t a, uint32_t b) { return lengths.expected(a) < lengths.expected(b); };
  const auto sorted_part = [&](const LengthOrderOptions& options, uint64_t epoch) {
    std::vector<uint32_t> order = order_of(lengths, options, epoch);
    order.resize(kRows / kBatch * kBatch);
    return order;
  };
  const auto literal = sorted_part({64, false, false}, 3);
  EXPECT_TRUE(std::is_sorted(literal.begin(), literal.end(), by_length));
  EXPECT_EQ(literal, sorted_part({512, false, false}, 3)) << "the bucket changes nothing then";
  const auto random = sorted_part({64, true, false}, 3);
  EXPECT_FALSE(std::is_sorted(random.begin(), random.end(), by_length));
  EXPECT_NE(random, sorted_part({512, true, false}, 3));
  // one bucket: every row gets into every place
  std::set<uint32_t> first;
  for (uint64_t epoch = 0; epoch < 600; ++epoch) first.insert(sorted_part({100000, true, false}, epoch)[0]);
  EXPECT_GT(first.size(), 95u);
}

TEST(LengthOrder, IsAFunctionOfSeedEpochAndEstimates) {
  LengthEstimates lengths = known_lengths();
  const LengthOrderOptions options{64, true, true};
  const auto order = order_of(lengths, options);
  EXPECT_EQ(order, order_of(known_lengths(), options));
  EXPECT_NE(order, order_of(lengths, options, 4));
  EXPECT_NE(order, order_of(lengths, options, 3, kSeed + 1));
  const std::vector<AnswerLength> answers{{100000}};
  lengths.observe(order[0], answers);
  EXPECT_NE(order, order_of(lengths, options));
}

}  // namespace
}  // namespace hone
