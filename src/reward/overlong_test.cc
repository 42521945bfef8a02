#include "reward/overlong.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Overlong, TakesNothingBeforeTheBufferThenAShareAndAllAtItsEnd) {
  const OverlongBuffer buffer{.max_length = 20480, .length = 4096, .penalty_factor = 1.0};
  EXPECT_EQ(overlong_penalty(0, buffer), 0.0);
  EXPECT_EQ(overlong_penalty(16384, buffer), 0.0);
  EXPECT_EQ(overlong_penalty(16385, buffer), -1.0 / 4096);
  EXPECT_EQ(overlong_penalty(18432, buffer), -0.5);
  EXPECT_EQ(overlong_penalty(20480, buffer), -1.0);
  EXPECT_EQ(overlong_penalty(30000, buffer), -1.0) << "no answer loses more";
  EXPECT_EQ(overlong_penalty(19, {.max_length = 20, .length = 2, .penalty_factor = 3.0}), -1.5);
}

}  // namespace
}  // namespace hone
