// The clipped surrogate and aggregation: published formulas, edges, and derivatives by finite differences.
#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/loss_aggregation.h"
#include "algorithms/policy_loss.h"

namespace hone::algorithms {
namespace {

TEST(ClippedPolicyLoss, DerivativeAgreesWithFiniteDifferencesAwayFromTheKinks) {
  const ClipRange clip{0.2f, 0.28f, 3.0f};
  for (float a : {-2.0f, -0.5f, 0.0f, 0.7f, 2.0f}) {
    for (float d : {-3.0f, -0.5f, -0.1f, 0.0f, 0.1f, 0.2f, 0.5f, 1.5f}) {
      const float old = -1.25f, h = 0x1p-10f;
      const auto at = [&](float shift) { return clipped_policy_loss(old + d + shift, old, a, clip).loss; };
      const double numeric = (at(h) - at(-h)) / (2 * double{h});
      EXPECT_NEAR(clipped_policy_loss(old + d, old, a, clip).dlogprob, numeric, 1e-5 * (1 + std::abs(numeric)))
          << "advantage " << a << " difference " << d;
    }
  }
}

TEST(ClippedPolicyLoss, ClipsAndCounts) {
  const ClipRange clip;
  EXPECT_EQ(clipped_policy_loss(-1, -1, 2, clip).loss, -2.0);
  EXPECT_EQ(clipped_policy_loss(-1, -1, 2, clip).dlogprob, -2.0);
  EXPECT_TRUE(clipped_policy_loss(0, -1, 1, clip).clipped);         // ratio e, advantage above 0
  EXPECT_FALSE(clipped_policy_loss(0, -1, -1, clip).clipped);       // pessimistic branch is the plain one
  EXPECT_TRUE(clipped_policy_loss(1, -1, -1, clip).clipped_lower);  // ratio e^2 above c
  EXPECT_EQ(clipped_policy_loss(1, -1, -1, clip).loss, 3.0);
  EXPECT_EQ(clipped_policy_loss(-1, -1, 0, clip).dlogprob, 0.0);
}

TEST(LossAggregation, WeightsSumToWhatTheModeSays) {
  const int64_t lengths[] = {3, 0, 5, 1};
  const BatchCounts batch{9, 3};
  const auto total = [&](LossAggregation mode) {
    double sum = 0;
    for (int64_t n : lengths) sum += static_cast<double>(n) * token_weight(mode, batch, n, 16);
    return sum;
  };
  EXPECT_DOUBLE_EQ(total(*loss_aggregation("token-mean")), 1.0);
  EXPECT_DOUBLE_EQ(total(*loss_aggregation("seq-mean-token-mean")), 1.0);
  EXPECT_DOUBLE_EQ(total(*loss_aggregation("seq-mean-token-sum")), 3.0);
  EXPECT_DOUBLE_EQ(total(*loss_aggregation("seq-mean-token-sum-norm")), 9.0 / 16.0);
  EXPECT_FALSE(loss_aggregation("mean").has_value());
}

}  // namespace
}  // namespace hone::algorithms
