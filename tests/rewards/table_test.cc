// The table of scorers, tests/rewards/scorers.jsonl: one row an answer and a ground truth.
//   response  a text, or a list of [part, how often]
//   verdicts  what each scorer finds
//   scores    its number, where that is not the usual one of the verdict
//   public    what the public scorer of the same name finds, "right" or "not right" (tools/make_scorer_verdicts.py)
//   why       why ours differs from it, for each that does and no other
#include <gtest/gtest.h>
#include <time.h>

#include <map>
#include <set>

#include "bench/hostile_answers.h"
#include "io/jsonl.h"
#include "reward/scorer.h"

namespace hone {
namespace {

std::vector<io::JsonRow> read_table() {
  io::Faults faults;
  std::vector<io::JsonRow> rows = io::read_jsonl(std::string(HONE_TEST_DATA) + "/scorers.jsonl", faults);
  faults.raise_if_any("the table cannot be read");
  return rows;
}

std::string response_of(const io::Json& row) {
  const io::Json& response = row.at("response");
  if (response.is_string()) return response.as_string();
  std::string text;
  for (const io::Json& part : response.as_array()) {
    for (int64_t i = 0; i < part.as_array()[1].as_int(); ++i) text += part.as_array()[0].as_string();
  }
  return text;
}

double usual_score(const std::string& scorer, bool right) {
  if (scorer == "geo3k") return right ? 0.9 : 0.0;
  return right ? 1.0 : scorer.starts_with("math_dapo") ? -1.0 : 0.0;
}

void expect_score(const io::JsonRow& row, const std::string& scorer, const Score& score) {
  EXPECT_EQ(score.value.has_value(), score.verdict != Verdict::undecided) << scorer << " on line " << row.line;
  if (!score.value) return;
  const io::Json* scores = row.value.find("scores");
  const io::Json* given = scores == nullptr ? nullptr : scores->find(scorer);
  const double expected = given != nullptr ? given->as_double() : usual_score(scorer, score.verdict == Verdict::right);
  EXPECT_FLOAT_EQ(*score.value, static_cast<float>(expected)) << scorer << " on line " << row.line;
}

TEST(ScorerTable, EveryVerdictAndScoreIsAsTheRowSays) {
  std::map<std::string, std::set<std::string>> seen;
  const auto rows = read_table();
  EXPECT_GE(rows.size(), 400u);
  for (const io::JsonRow& row : rows) {
    const std::string text = response_of(row.value);
    const std::string& gold = row.value.at("gold").as_string();
    for (const auto& [name, verdict] : row.value.at("verdicts").as_object()) {
      const Scorer* scorer = find_scorer(name);
      ASSERT_NE(scorer, nullptr) << name;
      const Score score = score_with(*scorer, {"", text, gold});
      ASSERT_TRUE(score.verdict) << name << " on line " << row.line << ": " << score.reason;
      EXPECT_EQ(hone::name(*score.verdict), verdict.as_string())
          << name << " on line " << row.line << ", ground truth " << gold << ": " << score.reason;
      expect_score(row, name, score);
      seen[name].insert(verdict.as_string());
    }
  }
  for (const Scorer& scorer : scorers()) {
    if (scorer.name == "arithmetic" || scorer.name == "countdown" || scorer.name == "sorting")
      continue;  // of built-in tasks: src/reward
    EXPECT_GE(seen[std::string(scorer.name)].size(), 3u) << scorer.name << " has no row for each of its verdicts";
  }
  EXPECT_TRUE(seen["prime_math"].count("undecided"));
}

TEST(ScorerTable, EveryDifferenceFromAPublicScorerSaysWhy) {
  for (const io::JsonRow& row : read_table()) {
    const io::Json* why = row.value.find("why");
    for (const auto& [name, verdict] : row.value.at("public").as_object()) {
      const bool right = row.value.at("verdicts").at(name).as_string() == "right";
      const bool differs = right != (verdict.as_string() == "right");
      const io::Json* reason = why == nullptr ? nullptr : why->find(name);
      EXPECT_EQ(differs, reason != nullptr) << name << " on line " << row.line;
      if (reason != nullptr) {
        EXPECT_GE(reason->as_string().size(), 15u) << name << " on line " << row.line;
      }
    }
  }
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

TEST(Scorers, NoAnswerTakesMoreThanFiftyMilliseconds) {
  for (const bench::HostileAnswer& hostile : bench::hostile_answers()) {
    for (const Scorer& scorer : scorers()) {
      double quickest = 1;
      for (int attempt = 0; attempt < 3 && quickest > 0.05; ++attempt) {
        const double start = processor_seconds();
        score_with(scorer, {"", hostile.text, hostile.ground_truth});
        quickest = std::min(quickest, processor_seconds() - start);
      }
      EXPECT_LE(quickest, 0.05) << scorer.name << " on " << hostile.text.substr(0, 60) << ", ground truth "
                                << hostile.ground_truth.substr(0, 30);
    }
  }
}

}  // namespace
}  // namespace hone
