// What a correction leaves alone. Values are in tests/cases/rollout_corrections.json.
#include "algorithms/rollout_correction.h"

#include <gtest/gtest.h>

namespace hone::algorithms {
namespace {

using Weights = RolloutCorrection::Weights;

TEST(RolloutCorrection, IsExactlyNothingWhereThePoliciesAgree) {
  const std::vector<float> a{-0.1f, -7.3f, -2e-5f}, b{-30.0f};
  const std::vector<uint8_t> mask{1, 0, 1};
  const RatioRow rows[] = {{a, a, mask}, {b, b, {}}};
  for (const Weights weights : {Weights::none, Weights::token, Weights::sequence}) {
    for (const bool normalize : {false, true}) {
      RolloutCorrection correction{weights, 1.0, normalize, {}};
      ASSERT_EQ(parse_rejections("token_k1,token_k2,token_k3,seq_sum_k1,seq_mean_k2,seq_max_k3",
                                 "1,1e-300,1e-300,1_1,1e-300,1e-300", correction.rejections),
                "");
      const Corrected found = correct(rows, correction);
      if (weights == Weights::none) {
        EXPECT_TRUE(found.weights.empty());
      } else {
        EXPECT_EQ(found.weights, (std::vector<std::vector<float>>{{1, 0, 1}, {1}}));
      }
      EXPECT_EQ(found.masks, (std::vector<std::vector<uint8_t>>{{1, 0, 1}, {}})) << "as they were";
      EXPECT_EQ(found.statistics.rejected_tokens, 0.0);
      EXPECT_EQ(found.statistics.weight_mean, 1.0);
      EXPECT_EQ(found.statistics.effective_sample_size, 1.0);
    }
  }
}

}  // namespace
}  // namespace hone::algorithms
