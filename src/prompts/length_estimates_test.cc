#include "prompts/length_estimates.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Lengths = std::vector<AnswerLength>;

TEST(LengthEstimates, TheFirstMeanIsTakenAndLaterOnesAreMixedIn) {
  LengthEstimates lengths(3, 0.75, 100);
  EXPECT_FALSE(lengths.is_any_known());
  EXPECT_EQ(lengths.expected(1), 100) << "nothing is known";
  lengths.observe(1, Lengths{{10}, {30}});
  EXPECT_EQ(lengths.expected(1), 20);
  lengths.observe(1, Lengths{{60}});
  EXPECT_EQ(lengths.expected(1), 0.75 * 20 + 0.25 * 60);
  EXPECT_EQ(lengths.rows()[1].times_observed, 2);
  EXPECT_EQ(lengths.expected(0), 100);
  EXPECT_TRUE(lengths.is_any_known());
  LengthEstimates other(3, 0.75, 100);
  other.restore(lengths.rows());
  EXPECT_EQ(other.rows(), lengths.rows());
  EXPECT_TRUE(other.is_any_known());
}

TEST(LengthEstimates, ACutAnswerNeverLowersTheEstimateAndIsRemembered) {
  LengthEstimates lengths(1, 0.5, 100);
  lengths.observe(0, Lengths{{80}});
  lengths.observe(0, Lengths{{20, true}, {20, true}});
  EXPECT_EQ(lengths.expected(0), 80) << "both would have been at least 20: nothing that speaks against 80";
  EXPECT_TRUE(lengths.rows()[0].is_bound);
  lengths.observe(0, Lengths{{120, true}, {80}});
  EXPECT_EQ(lengths.expected(0), 90) << "what is known to be longer raises it";
  lengths.observe(0, Lengths{{10}, {20, true}});
  EXPECT_EQ(lengths.expected(0), 0.5 * 90 + 0.5 * (10 + 90) / 2) << "answers that ended by themselves count in full";
  lengths.observe(0, Lengths{{70}});
  EXPECT_FALSE(lengths.rows()[0].is_bound);
  // nothing known before: the cut lengths are what there is
  LengthEstimates fresh(1, 0.5, 100);
  fresh.observe(0, Lengths{{20, true}, {40}});
  EXPECT_EQ(fresh.expected(0), 30);
  EXPECT_TRUE(fresh.rows()[0].is_bound);
}

// Answers of 100 ids, capped at 1.2 times what is expected of a batch with a short prompt: measured as they are cut,
// they would bring the estimate down with each epoch, and the cap with it.
TEST(LengthEstimates, ACapDoesNotBringItselfDown) {
  LengthEstimates lengths(2, 0.5, 100);
  lengths.observe(0, Lengths{{10}});
  lengths.observe(1, Lengths{{100}});
  for (int epoch = 0; epoch < 20; ++epoch) {
    const int64_t cap = early_stop_cap((lengths.expected(0) + lengths.expected(1)) / 2, 1.2, 1, 1000);
    EXPECT_EQ(cap, 66);
    lengths.observe(0, Lengths{{10}});
    lengths.observe(1, Lengths{{cap, true}});
  }
  EXPECT_EQ(lengths.expected(1), 100);
}

TEST(LengthEstimates, TheCapIsAFactorOfTheExpectedLengthWithinBounds) {
  EXPECT_EQ(early_stop_cap(50, 2.0, 1, 1000), 100);
  EXPECT_EQ(early_stop_cap(50.4, 1.5, 1, 1000), 75);
  EXPECT_EQ(early_stop_cap(50, 2.0, 300, 1000), 300);
  EXPECT_EQ(early_stop_cap(800, 2.0, 300, 1000), 1000);
  EXPECT_EQ(early_stop_cap(50, 2.0, 10000, 1000), 1000) << "never beyond the longest answer";
  EXPECT_EQ(early_stop_cap(0.1, 0.5, 1, 1000), 1);
  EXPECT_EQ(early_stop_cap(1e300, 1e300, 1, 1000), 1000);
}

}  // namespace
}  // namespace hone
