// What a correction leaves alone, what its text may say, and the distances it is judged by. Values are in
// tests/cases/rollout_corrections.json.
#include "algorithms/rollout_correction.h"

#include <gtest/gtest.h>

#include <cmath>

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

TEST(RolloutCorrection, SaysWhatIsWrongWithItsText) {
  std::vector<Rejection> out;
  EXPECT_NE(parse_rejections("seq_k1", "2", out).find("found \"seq_k1\""), std::string::npos);
  EXPECT_NE(parse_rejections("seq_max_k1", "2", out).find("found \"seq_max_k1\""), std::string::npos);
  EXPECT_NE(parse_rejections("token_k1,token_k2", "2,3,4", out).find("expected one threshold or 2, found 3"),
            std::string::npos);
  for (const char* bound : {"", "x", "0", "-1", "nan", "inf", "1.1_2", "0.5_0.9", "0.5_2_3", "0.5"}) {
    EXPECT_NE(parse_rejections("token_k1", bound, out), "") << bound;
  }
  for (const char* bound : {"", "0.5_2", "0", "-1"}) EXPECT_NE(parse_rejections("token_k3", bound, out), "") << bound;
  EXPECT_EQ(parse_rejections(" seq_sum_k1 , token_k2", "2", out), "");
  ASSERT_EQ(out.size(), 2u);
  EXPECT_DOUBLE_EQ(out[0].low, -std::log(2.0));
  EXPECT_DOUBLE_EQ(out[0].high, std::log(2.0));
  EXPECT_DOUBLE_EQ(out[1].high, 2.0);
}

// lr 0.5 -0.25 | 2: of rows -1 -1 against -1.5 -0.75, and -2 against -4.
TEST(OffPolicy, DistancesAreThoseOfTheirDefinitions) {
  const std::vector<float> a{-1, -1}, b{-1.5f, -0.75f}, c{-2}, d{-4};
  const RatioRow rows[] = {{a, b, {}}, {c, d, {}}};
  const OffPolicy found = off_policy(rows);
  EXPECT_NEAR(found.kl, (-0.5 + 0.25 - 2) / 3, 1e-12);
  EXPECT_NEAR(found.k3_kl, (std::exp(0.5) - 1.5 + std::exp(-0.25) - 0.75 + std::exp(2.0) - 3) / 3, 1e-12);
  EXPECT_NEAR(found.training_log_ppl, 1.5, 1e-12);
  EXPECT_NEAR(found.training_ppl, (std::exp(1.0) + std::exp(2.0)) / 2, 1e-12);
  EXPECT_NEAR(found.rollout_log_ppl, (1.125 + 4) / 2, 1e-12);
  EXPECT_NEAR(found.rollout_ppl, (std::exp(1.125) + std::exp(4.0)) / 2, 1e-12);
  EXPECT_NEAR(found.log_ppl_diff, (-0.125 - 2) / 2, 1e-12);
  EXPECT_NEAR(found.log_ppl_abs_diff, (0.125 + 2) / 2, 1e-12);
  EXPECT_NEAR(found.log_ppl_diff_max, -0.125, 1e-12);
  EXPECT_NEAR(found.log_ppl_diff_min, -2, 1e-12);
  EXPECT_NEAR(found.ppl_ratio, (std::exp(-0.125) + std::exp(-2.0)) / 2, 1e-12);
  EXPECT_NEAR(found.chi2_token, (std::exp(1.0) + std::exp(-0.5) + std::exp(4.0)) / 3 - 1, 1e-12);
  EXPECT_NEAR(found.chi2_seq, (std::exp(0.5) + std::exp(4.0)) / 2 - 1, 1e-12);
  const RatioRow same[] = {{a, a, {}}};
  EXPECT_EQ(off_policy(same).kl, 0.0);
  EXPECT_EQ(off_policy(same).k3_kl, 0.0);
  EXPECT_EQ(off_policy(same).ppl_ratio, 1.0);
  EXPECT_EQ(off_policy({}).log_ppl_diff_max, 0.0);
}

}  // namespace
}  // namespace hone::algorithms
