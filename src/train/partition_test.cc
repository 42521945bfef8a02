#include "train/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/random.h"

namespace hone {
namespace {

using Sets = std::vector<std::vector<size_t>>;

// Worked by hand, as spreads: 8 7 6 5 4 -> 6 5 4 1 -> 4 1 1 -> 3 1 -> 2.
TEST(Partition, DiffersTheLargestFirst) {
  EXPECT_EQ(karmarkar_karp(std::vector<int64_t>{8, 7, 6, 5, 4}, 2), (Sets{{0, 2}, {1, 3, 4}}));
  EXPECT_EQ(karmarkar_karp(std::vector<int64_t>{3, 3, 3}, 3), (Sets{{0}, {1}, {2}}));
  EXPECT_EQ(karmarkar_karp(std::vector<int64_t>{3, 3, 3}, 1), (Sets{{0, 1, 2}}));
  EXPECT_EQ(karmarkar_karp(std::vector<int64_t>{5}, 3), (Sets{{0}, {}, {}}));
  EXPECT_EQ(karmarkar_karp({}, 2), (Sets{{}, {}}));
}

TEST(Partition, KeepsEveryNumberOnceAndSumsNear) {
  for (uint64_t round = 0; round < 50; ++round) {
    const RandomKey key{3, Stream::init};
    const size_t count = 1 + random_below(key, round, 0, 0, 60), k = 1 + random_below(key, round, 0, 1, 9);
    std::vector<int64_t> numbers(count);
    for (size_t i = 0; i < count; ++i) numbers[i] = 1 + random_below(key, round, 1, static_cast<uint32_t>(i), 1000);
    const Sets sets = karmarkar_karp(numbers, k);
    ASSERT_EQ(sets.size(), k);
    std::vector<size_t> all;
    int64_t least = INT64_MAX, most = 0;
    for (const auto& set : sets) {
      EXPECT_TRUE(std::is_sorted(set.begin(), set.end()));
      all.insert(all.end(), set.begin(), set.end());
      int64_t sum = 0;
      for (const size_t i : set) sum += numbers[i];
      least = std::min(least, sum);
      most = std::max(most, sum);
    }
    std::sort(all.begin(), all.end());
    std::vector<size_t> each(count);
    std::iota(each.begin(), each.end(), size_t{0});
    EXPECT_EQ(all, each);
    EXPECT_LE(most - least, *std::max_element(numbers.begin(), numbers.end()));
  }
}

}  // namespace
}  // namespace hone
