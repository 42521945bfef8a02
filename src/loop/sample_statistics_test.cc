// The numbers are what verl's validation computes with numpy; tools/validation_statistics prints them anew.
#include "loop/sample_statistics.h"

#include <gtest/gtest.h>

#include <map>

#include "core/error.h"

namespace hone {
namespace {

std::map<std::string, double> statistics(const std::vector<double>& values, const std::vector<std::string>& answers,
                                         int64_t num_samples) {
  SampleStatistics s;
  std::map<std::string, double> result;
  for (const auto& [name, value] : s.of(values, answers, num_samples)) result[name] = value;
  return result;
}

void expect_numbers(const std::map<std::string, double>& found, const std::map<std::string, double>& expected) {
  EXPECT_EQ(found.size(), expected.size());
  for (const auto& [name, value] : expected) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_NEAR(found.at(name), value, 1e-12) << name;
  }
}

// clang-format off
TEST(SampleStatistics, OfFourSamplesAreVerls) {
  expect_numbers(statistics({1.0, 0.0, 1.0, 1.0}, {"7", "8", "7", "7"}, 4), {
      {"mean@4", 0.75},
      {"std@4", 0.4330127018922193},
      {"best@2/mean", 0.941},
      {"best@2/std", 0.23562470159132295},
      {"worst@2/mean", 0.566},
      {"worst@2/std", 0.4956248581336493},
      {"maj@2/mean", 0.763},
      {"maj@2/std", 0.42524228388061314},
      {"best@4/mean", 0.997},
      {"best@4/std", 0.054690035655501276},
      {"worst@4/mean", 0.329},
      {"worst@4/std", 0.46984997605618756},
      {"maj@4/mean", 0.84},
      {"maj@4/std", 0.36660605559646725},
  });
}

TEST(SampleStatistics, OfFiveSamplesWithoutAnswersAreVerls) {
  expect_numbers(statistics({0.5, -1.0, 2.25, 0.0, 0.75}, {}, 5), {
      {"mean@5", 0.5},
      {"std@5", 1.0606601717798212},
      {"best@2/mean", 1.0325},
      {"best@2/std", 0.9429044225158774},
      {"worst@2/mean", -0.0665},
      {"worst@2/std", 0.833038264427271},
      {"best@4/mean", 1.571},
      {"best@4/std", 0.8099129582862593},
      {"worst@4/mean", -0.5005},
      {"worst@4/std", 0.6051857152973787},
      {"best@5/mean", 1.73525},
      {"best@5/std", 0.741599580299234},
      {"worst@5/mean", -0.60725},
      {"worst@5/std", 0.5560440068016199},
  });
}

TEST(SampleStatistics, OfEightSamplesOfSeveralAnswersAreVerls) {
  expect_numbers(statistics({0.0, 0.1, 1.0, 0.0, 1.0, 0.3, 0.0, 0.0}, {"a", "b", "c", "a", "c", "b", "", "a"}, 8), {
      {"mean@8", 0.30000000000000004},
      {"std@8", 0.4153311931459037},
      {"best@2/mean", 0.5076999999999999},
      {"best@2/std", 0.45160902338195147},
      {"worst@2/mean", 0.09240000000000001},
      {"worst@2/std", 0.2358012722611988},
      {"maj@2/mean", 0.2849},
      {"maj@2/std", 0.40973404788960366},
      {"best@4/mean", 0.7545000000000001},
      {"best@4/std", 0.3821253066730859},
      {"worst@4/mean", 0.014199999999999999},
      {"worst@4/std", 0.07680078124602639},
      {"maj@4/mean", 0.2651},
      {"maj@4/std", 0.3964492275184806},
      {"best@8/mean", 0.935},
      {"best@8/std", 0.21381066390617656},
      {"worst@8/mean", 0.00030000000000000003},
      {"worst@8/std", 0.005469003565550127},
      {"maj@8/mean", 0.2582},
      {"maj@8/std", 0.4013885399460229},
  });
}

TEST(SampleStatistics, OfTwoSamplesAreVerls) {
  expect_numbers(statistics({0.0, 1.0}, {"x", "y"}, 2), {
      {"mean@2", 0.5},
      {"std@2", 0.5},
      {"best@2/mean", 0.754},
      {"best@2/std", 0.43067853440820564},
      {"worst@2/mean", 0.23},
      {"worst@2/std", 0.4208325082500163},
      {"maj@2/mean", 0.487},
      {"maj@2/std", 0.49983097142934235},
  });
}
// clang-format on

TEST(SampleStatistics, OfOneSampleAreItsMean) { expect_numbers(statistics({0.25}, {"7"}, 1), {{"mean@1", 0.25}}); }

TEST(SampleStatistics, AreThoseOfTheSamplesThatHaveAValueUnderTheNameOfAll) {
  const auto found = statistics({1.0, 0.0}, {}, 4);
  EXPECT_EQ(found.at("mean@4"), 0.5);
  EXPECT_EQ(found.at("std@4"), 0.5);
  EXPECT_NEAR(found.at("best@4/mean"), 15.0 / 16, 0.03);
  EXPECT_EQ(statistics({1.0}, {}, 4).at("worst@2/mean"), 1.0);
}

TEST(SampleStatistics, SubsetsAreThePowersOfTwoAndAll) {
  EXPECT_EQ(subset_sizes(1), (std::vector<int64_t>{}));
  EXPECT_EQ(subset_sizes(2), (std::vector<int64_t>{2}));
  EXPECT_EQ(subset_sizes(8), (std::vector<int64_t>{2, 4, 8}));
  EXPECT_EQ(subset_sizes(12), (std::vector<int64_t>{2, 4, 8, 12}));
}

}  // namespace
}  // namespace hone
