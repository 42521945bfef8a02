#include "core/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

TEST(Random, IsPhilox4x32WithTenRounds) {
  // Known answers published with the reference implementation (Random123).
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (std::array<uint32_t, 4>{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
}

TEST(Random, EveryPartOfTheKeyMatters) {
  const uint64_t base = random_bits({1, Stream::train}, 2, 3, 4);
  EXPECT_NE(base, random_bits({2, Stream::train}, 2, 3, 4));
  EXPECT_NE(base, random_bits({1, Stream::validation}, 2, 3, 4));
  EXPECT_NE(base, random_bits({1, Stream::train}, 3, 3, 4));
  EXPECT_NE(base, random_bits({1, Stream::train}, 2, 4, 4));
  EXPECT_NE(base, random_bits({1, Stream::train}, 2, 3, 5));
  EXPECT_NE(base, random_bits({1, Stream::train}, 2 + (uint64_t{1} << 32), 3, 4));
}

TEST(Random, HasTheMomentsItPromises) {
  const int n = 100000;
  double mean = 0, normal_mean = 0, normal_square = 0;
  int below[7] = {};
  for (int i = 0; i < n; ++i) {
    const auto draw = static_cast<uint64_t>(i);
    const float u = random_uniform({5, Stream::test}, draw, 0, 0);
    ASSERT_GE(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    mean += u;
    const double z = random_normal({5, Stream::test}, draw, 1, 0);
    normal_mean += z;
    normal_square += z * z;
    ++below[random_below({5, Stream::test}, draw, 2, 0, 7)];
  }
  // 5 standard errors
  EXPECT_NEAR(mean / n, 0.5, 5 * 0.2887 / std::sqrt(n));
  EXPECT_NEAR(normal_mean / n, 0.0, 5 / std::sqrt(n));
  EXPECT_NEAR(normal_square / n, 1.0, 5 * std::sqrt(2.0 / n));
  for (int count : below) EXPECT_NEAR(count, n / 7.0, 5 * std::sqrt(n / 7.0));
}

}  // namespace
}  // namespace hone
