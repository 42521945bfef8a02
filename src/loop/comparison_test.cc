#include "loop/comparison.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/json.h"

namespace hone {
namespace {

std::string row(int draw, int sample, std::optional<double> score, const std::string& input = "1+1=") {
  io::Json json = io::Json::object({{"input", input}, {"output", "an answer"}, {"gts", "2"}, {"data_source", "s"}});
  json.set("score", score ? io::Json(*score) : io::Json());
  json.set("draw", draw);
  json.set("sample", sample);
  return json.dump() + "\n";
}

class Comparison : public ::testing::Test {
 protected:
  std::vector<ComparedSource> compare(const std::string& a, const std::string& b) {
    const std::string base = ::testing::TempDir() + "comparison_" + std::to_string(::getpid());
    io::write_file(base + "_a.jsonl", a);
    io::write_file(base + "_b.jsonl", b);
    return compare_evaluations(base + "_a.jsonl", base + "_b.jsonl");
  }
};

TEST_F(Comparison, PairsSamplesWhateverTheOrderOfTheFiles) {
  const auto sources = compare(row(0, 0, 0) + row(0, 1, 1) + row(1, 0, 1) + row(1, 1, 1) + row(2, 0, 0) + row(2, 1, 0),
                               row(2, 1, 0) + row(2, 0, 1) + row(1, 0, 1) + row(0, 1, 1) + row(0, 0, 1) + row(1, 1, 0));
  ASSERT_EQ(sources.size(), 1u);
  const ComparedSource& s = sources[0];
  EXPECT_EQ(s.num_prompts, 3);
  EXPECT_DOUBLE_EQ(s.mean_a, 0.5);
  EXPECT_DOUBLE_EQ(s.mean_b, (1 + 0.5 + 0.5) / 3);
  EXPECT_EQ(s.better, 2);
  EXPECT_EQ(s.worse, 1);
  EXPECT_EQ(s.samples_won, 2);
  EXPECT_EQ(s.samples_lost, 1);
  const Interval expected = normal_interval(std::vector<double>{0.5, -0.5, 0.5});
  EXPECT_DOUBLE_EQ(s.difference.low, expected.low);
  EXPECT_DOUBLE_EQ(s.difference.high, expected.high);
  ASSERT_EQ(s.changed.size(), 3u);
  EXPECT_EQ(s.changed[0].draw, 0u);
  EXPECT_EQ(s.changed[1].sample, 1);
}

TEST_F(Comparison, LeavesAbsentScoresOut) {
  const auto sources = compare(row(0, 0, std::nullopt) + row(0, 1, 1), row(0, 0, 1) + row(0, 1, 0));
  EXPECT_EQ(sources[0].num_absent, 1);
  EXPECT_EQ(sources[0].mean_a, 1);
  EXPECT_EQ(sources[0].mean_b, 0);
}

TEST_F(Comparison, OfOtherPromptsOrSamplesIsRefused) {
  EXPECT_THROW(compare(row(0, 0, 1), row(0, 0, 1) + row(0, 1, 1)), Error);
  EXPECT_THROW(compare(row(0, 0, 1), row(0, 1, 1)), Error);
  EXPECT_THROW(compare(row(0, 0, 1), row(0, 0, 1, "1+2=")), Error);
  EXPECT_THROW(compare(row(0, 0, 1) + row(0, 0, 1), row(0, 0, 1) + row(0, 0, 1)), Error);
  EXPECT_THROW(compare(row(0, 0, 1), "{\"draw\": 0}\n"), Error);
}

}  // namespace
}  // namespace hone
