// hone score as a user runs it.
#include "support/command.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "reward/scorer.h"
#include "support/tiny_model.h"
#include "workers/python_test_cases.h"

namespace hone::test {
namespace {

std::string row(const std::string& output, const std::string& gold, const std::string& source, double score) {
  io::Json json = io::Json::object();
  json.set("output", output);
  json.set("gts", gold);
  json.set("data_source", source);
  json.set("score", score);
  return json.dump() + "\n";
}

class ScoreCommand : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    io::write_file(folder_ / name, text);
    return folder_ / name;
  }
  TemporaryFolder folder_{"score"};
};

TEST_F(ScoreCommand, ScoresByDataSourceAndSumsUp) {
  const std::string rows = file(
      "a.jsonl", row("#### 5", "5", "openai/gsm8k", 1) + row("#### 6", "5", "openai/gsm8k", 0) +
                     row("no idea", "5", "openai/gsm8k", 0) +
                     row("\\boxed{9^{9^{9^{9}}}}", "1", "numina_olympiads", 0) + row("Answer: 6", "5", "aime2024", -1));
  const Result result = run_hone(folder_.path(), {"score", rows});
  EXPECT_EQ(result.code, 0) << result.err;
  for (const char* line :
       {"openai/gsm8k by gsm8k: mean 0.3333 over 3 rows; right 1, wrong 1, no answer 1, undecided 0",
        "numina_olympiads by prime_math: mean - over 1 rows; right 0, wrong 0, no answer 0, undecided 1, "
        "absent 1",
        "aime2024 by math_dapo: mean -1.0000 over 1 rows"}) {
    EXPECT_NE(result.out.find(line), std::string::npos) << line << " in\n" << result.out;
  }
}

TEST_F(ScoreCommand, AuditShowsEveryRowThatDiffersAndNoOther) {
  const std::string rows =
      file("a.jsonl", row("so \\boxed{2^{10}}", "1024", "mine", 0) + row("so \\boxed{1024}", "1024", "mine", 1) +
                          row("so \\boxed{7}", "1024", "mine", 1));
  const Result two = run_hone(folder_.path(), {"score", rows, "--scorer", "prime_math", "--audit", "math"});
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_NE(two.out.find("a.jsonl:1: ground truth 1024"), std::string::npos) << two.out;
  EXPECT_EQ(two.out.find("a.jsonl:2:"), std::string::npos) << two.out;
  EXPECT_EQ(two.out.find("a.jsonl:3:"), std::string::npos) << two.out;
  EXPECT_NE(two.out.find("prime_math and math differ on 1"), std::string::npos) << two.out;
  const Result recorded = run_hone(folder_.path(), {"score", rows, "--scorer", "math", "--audit", "recorded"});
  EXPECT_NE(recorded.out.find("a.jsonl:3:"), std::string::npos) << recorded.out;
  EXPECT_NE(recorded.out.find("math and recorded differ on 1"), std::string::npos) << recorded.out;
}

TEST_F(ScoreCommand, AuditOfARecordedSumLooksAtWhatWasRight) {
  const auto with_acc = [](const std::string& output, double score, double acc) {
    std::string line = row(output, "5", "openai/gsm8k", score);
    return line.replace(line.rfind('}'), 1, ", \"acc\": " + std::to_string(acc) + "}");
  };
  const std::string rows = file("a.jsonl", with_acc("#### 5", 0.4, 1) + with_acc("#### 6", -0.6, 0) +
                                               with_acc("#### 6", 1.3, 1) + with_acc("#### 5", 1, 0));
  const Result result = run_hone(folder_.path(), {"score", rows, "--audit", "recorded"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out.find("a.jsonl:1:"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("a.jsonl:2:"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("a.jsonl:3:"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("a.jsonl:4:"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("gsm8k and recorded differ on 2"), std::string::npos) << result.out;
}

std::vector<io::Json> lines_of(const std::string& output) {
  std::vector<io::Json> lines;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) lines.push_back(io::parse_json(line, "line"));
  return lines;
}

TEST_F(ScoreCommand, JsonIsALineForEveryRowAndOneForEverySource) {
  const std::string rows =
      file("a.jsonl", row("#### 5", "5", "openai/gsm8k", 1) + row("#### 6", "5", "openai/gsm8k", 0) +
                          row("\\boxed{9^{9^{9^{9}}}}", "1", "numina_olympiads", 0));
  const Result result = run_hone(folder_.path(), {"score", rows, "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 5u) << result.out;
  EXPECT_EQ(lines[1].at("place").as_string(), rows + ":2");
  EXPECT_EQ(lines[1].at("data_source").as_string(), "openai/gsm8k");
  EXPECT_EQ(lines[1].at("scorer").as_string(), "gsm8k");
  EXPECT_EQ(lines[1].at("score").as_double(), 0);
  EXPECT_EQ(lines[1].at("verdict").as_string(), "wrong");
  EXPECT_EQ(lines[1].at("pred").as_string(), "6");
  EXPECT_EQ(lines[1].at("ground_truth").as_string(), "5");
  EXPECT_EQ(lines[0].at("score").as_double(), 1);
  EXPECT_TRUE(lines[2].at("score").is_null());
  EXPECT_EQ(lines[2].at("verdict").as_string(), "undecided");
  EXPECT_TRUE(lines[3].at("mean_score").is_null()) << "numina, which comes first by name";
  EXPECT_EQ(lines[3].at("absent").as_int(), 1);
  EXPECT_EQ(lines[4].at("mean_score").as_double(), 0.5);
  EXPECT_EQ(lines[4].at("rows").as_int(), 2);
  const Result audit = run_hone(folder_.path(), {"score", rows, "--json", "--scorer", "gsm8k", "--audit", "math"});
  const auto differing = lines_of(audit.out);
  ASSERT_EQ(differing.size(), 5u) << audit.out;
  EXPECT_EQ(differing[0].at("verdict").as_string(), "right");
  EXPECT_EQ(differing[0].at("other").as_string(), "math");
  EXPECT_EQ(differing[0].at("other_verdict").as_string(), "no answer");
  EXPECT_EQ(differing[4].at("differ").as_int(), 2);
}

TEST_F(ScoreCommand, ListNamesEveryScorerAndItsSources) {
  const Result result = run_hone(folder_.path(), {"score", "--list"});
  EXPECT_EQ(result.code, 0) << result.err;
  for (const Scorer& scorer : scorers()) {
    EXPECT_NE(("\n" + result.out).find("\n" + std::string(scorer.name) + " "), std::string::npos) << scorer.name;
    EXPECT_NE(result.out.find(scorer.what), std::string::npos) << scorer.name;
  }
  for (const Route& route : routes()) {
    const size_t place = result.out.find(" " + std::string(route.data_source) + "\n");
    ASSERT_NE(place, std::string::npos) << route.data_source;
    const size_t scorer = ("\n" + result.out).rfind("\n" + std::string(route.scorer) + " ", place);
    ASSERT_NE(scorer, std::string::npos) << route.data_source << " stands before its scorer";
    for (const Scorer& other : scorers()) {
      if (other.name == route.scorer) continue;
      const size_t between = result.out.find("\n" + std::string(other.name) + "  ", scorer);
      EXPECT_GT(between, place) << route.data_source << " stands under " << other.name;
    }
  }
  EXPECT_EQ(run_hone(folder_.path(), {"score"}).code, 2) << "no file";
}

TEST_F(ScoreCommand, NamesAllThatCannotBeScored) {
  const std::string rows = file("a.jsonl", row("5", "5", "mine", 1) + "{\"output\": \"5\"}\n" + "{\"gts\": \"5\"}\n" +
                                               row("#### 5", "five", "openai/gsm8k", 1));
  const Result result = run_hone(folder_.path(), {"score", rows});
  EXPECT_EQ(result.code, 2);
  for (const char* fault : {"a.jsonl:1: no scorer for data source \"mine\"", "a.jsonl:2: no ground truth",
                            "a.jsonl:3: no answer", "a.jsonl:4: ground truth of openai/gsm8k: expected a number"}) {
    EXPECT_NE(result.err.find(fault), std::string::npos) << fault << " in\n" << result.err;
  }
  for (const char* option : {"--scorer", "--audit"}) {
    const Result unknown = run_hone(folder_.path(), {"score", rows, option, "maths"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_NE(unknown.err.find(std::string(option) + ": 'maths' is no scorer"), std::string::npos) << unknown.err;
  }
}

TEST_F(ScoreCommand, ProgramsRunWhenTheOptionAllowsItAndAreElseRefusedWithItsName) {
  const std::string cases = R"({"inputs": ["2"], "outputs": ["4"]})";
  const std::string rows = file("a.jsonl", row("```python\nprint(2 * int(input()))\n```", cases, "codecontests", 1) +
                                               row("```python\nprint(5)\n```", cases, "codecontests", 0));
  const Result refused = run_hone(folder_.path(), {"score", rows});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("allow it with --run-code, or name another scorer with --scorer"), std::string::npos)
      << refused.err;
  EXPECT_EQ(refused.err.find("reward."), std::string::npos) << "a key of recipes: " << refused.err;
  for (const char* option : {"--scorer", "--audit"}) {
    const Result named = run_hone(folder_.path(), {"score", rows, option, "prime_code"});
    EXPECT_EQ(named.code, 2);
    EXPECT_NE(named.err.find(std::string(option) + ": prime_code runs the answers as programs"), std::string::npos)
        << named.err;
    EXPECT_NE(named.err.find("--run-code"), std::string::npos) << named.err;
  }
  if (!has_python()) GTEST_SKIP() << kNoPython;
  for (const bool is_named : {false, true}) {
    std::vector<std::string> arguments{"score", rows, "--run-code", "--audit", "recorded"};
    if (is_named) arguments.insert(arguments.end(), {"--scorer", "prime_code"});
    const Result result = run_hone(folder_.path(), arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("codecontests by prime_code: mean 0.5000 over 2 rows"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("recorded differ on 0"), std::string::npos) << result.out;
  }
}

}  // namespace
}  // namespace hone::test
