#include "core/fixed_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/random.h"

namespace hone {
namespace {

double uniform(uint64_t i) { return static_cast<double>(random_bits({1, Stream::test}, i, 0, 0) >> 11) * 0x1p-53; }

TEST(FixedMath, AgreesWithTheLibraryToAFewUnits) {
  for (uint64_t i = 0; i < 20000; ++i) {
    const double u = uniform(i);
    const double x = (u - 0.5) * 1400.0;
    EXPECT_NEAR(fixed::exp(x) / std::exp(x), 1.0, 2e-15) << x;
    const double p = std::exp(x);
    EXPECT_NEAR(fixed::log(p), std::log(p), 1e-15 * std::abs(x) + 1e-15) << p;
    const double near_one = 1.0 + (u - 0.5) * 1e-3;
    EXPECT_NEAR(fixed::log(near_one) / std::log(near_one), 1.0, 1e-15) << near_one;
    const double angle = (u - 0.5) * 2e6;
    EXPECT_NEAR(fixed::sincos(angle).sin, std::sin(angle), 1e-15) << angle;
    EXPECT_NEAR(fixed::sincos(angle).cos, std::cos(angle), 1e-15) << angle;
    EXPECT_NEAR(fixed::pow(1e6, u) / std::pow(1e6, u), 1.0, 1e-14);
  }
}

TEST(FixedMath, KeepsTheEdges) {
  EXPECT_EQ(fixed::exp(0.0), 1.0);
  EXPECT_EQ(fixed::exp(-1e9), 0.0);
  EXPECT_EQ(fixed::exp(1e9), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(fixed::exp(std::nan(""))));
  EXPECT_EQ(fixed::log(1.0), 0.0);
  EXPECT_EQ(fixed::log(0.0), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(fixed::log(-1.0)));
  EXPECT_EQ(fixed::int_pow(2.0, 10), 1024.0);
  EXPECT_EQ(fixed::int_pow(0.9, 0), 1.0);
}

}  // namespace
}  // namespace hone
