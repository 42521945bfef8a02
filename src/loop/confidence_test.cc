#include "loop/confidence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace hone {
namespace {

// 0, 5 and 20 of 20, worked out from the paper's formula by other means.
TEST(Confidence, OfRightAndWrongIsWilsons) {
  const auto interval = [](int right) {
    std::vector<double> numbers(20, 0.0);
    std::fill_n(numbers.begin(), right, 1.0);
    return mean_interval(numbers);
  };
  EXPECT_DOUBLE_EQ(interval(0).low, 0.0);
  EXPECT_NEAR(interval(0).high, 0.161125, 1e-6);
  EXPECT_NEAR(interval(5).low, 0.111862, 1e-6);
  EXPECT_NEAR(interval(5).high, 0.468701, 1e-6);
  EXPECT_NEAR(interval(20).low, 0.838875, 1e-6);
  EXPECT_DOUBLE_EQ(interval(20).high, 1.0);
}

TEST(Confidence, OfOtherNumbersIsNormalWithTheErrorOverPrompts) {
  const std::vector<double> numbers{0.25, 0.5, 0.75, 1.0};  // mean 0.625, sample variance 5/48
  const double half = 1.959963984540054 * std::sqrt(5.0 / 48 / 4);
  EXPECT_NEAR(mean_interval(numbers).low, 0.625 - half, 1e-15);
  EXPECT_NEAR(mean_interval(numbers).high, 0.625 + half, 1e-15);
  EXPECT_TRUE(std::isinf(mean_interval(std::vector<double>{0.5}).high));
}

// Against counting every subset.
TEST(Confidence, PassAtKIsTheShareOfSubsetsWithARightOne) {
  for (int n = 1; n <= 8; ++n) {
    for (int right = 0; right <= n; ++right) {
      for (int k = 1; k <= n; ++k) {
        int subsets = 0, passed = 0;
        for (unsigned set = 0; set < 1u << n; ++set) {
          if (std::popcount(set) != k) continue;
          ++subsets;
          passed += (set & ((1u << right) - 1)) != 0;
        }
        EXPECT_NEAR(pass_at_k(n, right, k), static_cast<double>(passed) / subsets, 1e-12) << n << " " << right << k;
      }
    }
  }
}

TEST(Confidence, SignTestIsTwiceTheTailOfEvenOdds) {
  EXPECT_EQ(sign_test(0, 0), 1.0);
  EXPECT_NEAR(sign_test(5, 0), 2.0 / 32, 1e-12);
  EXPECT_NEAR(sign_test(2, 8), 2.0 * (1 + 10 + 45) / 1024, 1e-12);
  EXPECT_EQ(sign_test(8, 2), sign_test(2, 8));
  EXPECT_EQ(sign_test(3, 3), 1.0);
}

}  // namespace
}  // namespace hone
