// What a critic and KL in the reward are made of: the clipped value loss with its derivative, the controllers.
#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/kl_controller.h"
#include "algorithms/value_loss.h"

namespace hone::algorithms {
namespace {

TEST(ValueLoss, IsHalfTheLargerSquareOfTheValueAndTheHeldValue) {
  const auto inside = clipped_value_loss(1.25f, 1.0f, 2.0f, 0.5);
  EXPECT_EQ(inside.loss, 0.5 * 0.75 * 0.75);
  EXPECT_EQ(inside.dvalue, -0.75);
  EXPECT_FALSE(inside.clipped);
  const auto towards = clipped_value_loss(1.75f, 1.0f, 2.0f, 0.5);  // held at 1.5: the larger error
  EXPECT_EQ(towards.loss, 0.5 * 0.5 * 0.5);
  EXPECT_EQ(towards.dvalue, 0.0);
  EXPECT_TRUE(towards.clipped);
  const auto away = clipped_value_loss(0.25f, 1.0f, 2.0f, 0.5);  // held at 0.5: the smaller error
  EXPECT_EQ(away.loss, 0.5 * 1.75 * 1.75);
  EXPECT_EQ(away.dvalue, -1.75);
  EXPECT_FALSE(away.clipped);
}

TEST(ValueLoss, DerivativeIsTheFiniteDifferenceAwayFromTheKinks) {
  for (const float old_value : {-1.0f, 0.0f, 2.0f}) {
    for (const float target : {-1.5f, 0.25f, 3.0f}) {
      for (const float value : {-2.1f, -0.9f, 0.3f, 0.7f, 2.3f, 2.9f}) {
        const float h = 1.0f / 1024;
        const double difference = (clipped_value_loss(value + h, old_value, target, 0.5).loss -
                                   clipped_value_loss(value - h, old_value, target, 0.5).loss) /
                                  (double{value + h} - double{value - h});
        EXPECT_NEAR(clipped_value_loss(value, old_value, target, 0.5).dvalue, difference, 1e-9);
      }
    }
  }
}

TEST(KlController, AFixedOneStaysAndAnAdaptiveOneFollowsTheError) {
  KlController fixed{.coef = 0.01};
  fixed.update(100, 1000);
  EXPECT_EQ(fixed.coef, 0.01);
  KlController adaptive{.coef = 0.01, .adaptive = true, .target = 0.1, .horizon = 10000};
  adaptive.update(0.11, 1000);  // 10 % above
  EXPECT_DOUBLE_EQ(adaptive.coef, 0.01 * (1 + 0.1 * 0.1));
  adaptive.coef = 0.01;
  adaptive.update(5.0, 1000);
  EXPECT_DOUBLE_EQ(adaptive.coef, 0.01 * 1.02) << "an error counts as 20 % at most";
  adaptive.coef = 0.01;
  adaptive.update(0.0, 1000);
  EXPECT_DOUBLE_EQ(adaptive.coef, 0.01 * 0.98);
  adaptive.update(0.1, 1000);
  EXPECT_DOUBLE_EQ(adaptive.coef, 0.01 * 0.98) << "on target nothing changes";
}

}  // namespace
}  // namespace hone::algorithms
