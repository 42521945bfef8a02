// What the weights of all tokens add up to.
#include "algorithms/loss_aggregation.h"

#include <gtest/gtest.h>

namespace hone::algorithms {
namespace {

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
