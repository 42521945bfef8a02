#include "algorithms/off_policy.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone::algorithms {
namespace {

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
