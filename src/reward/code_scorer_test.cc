// Answers that are programs, with what programs do wrong.
#include "reward/code_scorer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "io/file.h"
#include "reward/scorer.h"
#include "workers/python_test_cases.h"

namespace hone {
namespace {

class CodeScorerTest : public ::testing::Test {
 protected:
  CodeScorerTest() {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("hone_code_test_{}", ::getpid());
    std::filesystem::create_directories(folder_);
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", folder_.c_str(), 1);  // of the programs' folders, which some leave behind
  }
  ~CodeScorerTest() override {
    before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR");
    std::filesystem::remove_all(folder_);
  }

  void SetUp() override {
    if (test::has_python()) return;
    EXPECT_THROW(CodeScorer(1), Error);
    GTEST_SKIP() << test::kNoPython;
  }
  // "share,passed,cases"
  static std::string said(CodeScorer& scorer, const std::string& program, const std::string& cases) {
    Prompt prompt;
    prompt.ground_truth = cases;
    const std::string text = "So:\n```python\n" + program + "\n```\nThat is it.";
    const Answer answer{"apps", text, cases};
    const Score score = scorer.score(prompt, 0, {&answer, 1}).front();
    if (!score.value) return score.reason;
    return fmt::format("{},{},{}", *score.value, std::get<double>(score.extras.at(1).value),
                       std::get<double>(score.extras.at(2).value));
  }

  std::filesystem::path folder_;
  std::optional<std::string> before_;
};

constexpr const char* kPrintsOne = R"({"inputs": [""], "outputs": ["1"]})";

TEST_F(CodeScorerTest, GivesTheShareOfTheCasesThatAreTrulyPassed) {
  CodeScorer scorer(1, 3.0);
  const std::string doubles = R"({"inputs": ["1\n", "2\n", ["3"]], "outputs": ["2\n", " 4 ", ["6"]]})";
  EXPECT_EQ(said(scorer, "print(2 * int(input()))", doubles), "1,3,3");
  EXPECT_EQ(said(scorer, "x = int(input())\nprint(2 * x if x < 3 else 0)", doubles), "0.6666667,2,3");
  EXPECT_EQ(said(scorer, "print(", doubles), "0,0,3");
  EXPECT_EQ(said(scorer, "print(sys.stdin.read().strip() and 2.0000001)", R"({"inputs": ["1"], "outputs": ["2"]})"),
            "1,1,1")
      << "numbers, and modules that programs take for granted";
  EXPECT_EQ(said(scorer, "def f(a, b): print('noise'); return [a, b]",
                 R"({"fn_name": "f", "inputs": ["1\n2", [3, 4]], "outputs": ["[1, 2]", [[3, 4]]]})"),
            "1,2,2");
  EXPECT_EQ(said(scorer, "class Solution:\n    def f(self, a: List[int]): return sum(a)",
                 R"({"fn_name": "f", "inputs": [[[1, 2]]], "outputs": [3]})"),
            "1,1,1");
  const std::string whole = R"({"inputs": [""], "outputs": ["123456789"]})";
  EXPECT_EQ(said(scorer, "print(123456790)", whole), "0,0,1") << "whole numbers are exact";
  EXPECT_EQ(said(scorer, "print('12345678_9')", whole), "0,0,1");
  EXPECT_EQ(said(scorer, "def f(x): os._exit(0)", R"({"inputs": ["1"], "outputs": ["null"], "fn_name": "f"})"), "0,0,1")
      << "no value is not null";
  EXPECT_EQ(said(scorer, "def f(x): return None", R"({"inputs": ["1"], "outputs": ["null"], "fn_name": "f"})"),
            "1,1,1");
}

TEST_F(CodeScorerTest, ProgramsThatMisbehaveFailTheirCaseAndNothingElse) {
  CodeScorer brief(1, 2.0);
  for (const char* program : {"while True: pass", "import time; time.sleep(1000)"}) {
    EXPECT_EQ(said(brief, program, kPrintsOne), "0,0,1") << program;
  }
  CodeScorer scorer(1, 3.0, int64_t{512} << 20);
  for (const char* program : {
           "x = bytearray(1 << 30); print(1)",
           "import os; os._exit(3)",
           "import os; os.kill(os.getpid(), 9)",
           "open('big', 'wb').write(bytes(1 << 25)); print(1)",
           "print('x' * (1 << 22))",
           "print('1' + chr(10) * (1 << 21) + '2')",
           "os.write(1, b'1')\ntry:\n    while True: os.write(1, b' ' * 65536)\nexcept OSError: pass",
       }) {
    EXPECT_EQ(said(scorer, program, kPrintsOne), "0,0,1") << program;
  }
  EXPECT_EQ(said(scorer, "print(1)", kPrintsOne), "1,1,1") << "goes on";
}

TEST_F(CodeScorerTest, WhatIsPrintedIsTakenWholeAndOfTheCasesTheFirstTen) {
  CodeScorer scorer(1);
  const std::string text(1 << 21, 'x');
  EXPECT_EQ(said(scorer, "print('x' * (1 << 21))", R"({"inputs": [""], "outputs": [")" + text + "\"]}"), "1,1,1");
  EXPECT_EQ(said(scorer, "print(1)", R"({"inputs": ["","","","","","","","","","","",""],
                                        "outputs": [1,1,1,1,1,1,1,1,1,1,0,0]})"),
            "1,10,10");
}

TEST_F(CodeScorerTest, AProgramThatTakesItsFolderAwayHasItsScoreAllTheSame) {
  CodeScorer scorer(1);
  EXPECT_EQ(said(scorer, "import shutil\nhere = os.getcwd()\nshutil.rmtree(here)\nopen(here, 'w').close()\nprint(1)",
                 kPrintsOne),
            "1,1,1");
}

TEST_F(CodeScorerTest, ASleepIsNoProcessorTime) {
  CodeScorer scorer(1, 2.0);
  EXPECT_EQ(said(scorer, "time.sleep(2.5); print(1)", kPrintsOne), "1,1,1");
}

TEST_F(CodeScorerTest, HashesAndRandomNumbersAreTheSameInEveryRunAndTheFolderHoldsNoModules) {
  CodeScorer scorer(1);
  const std::string path = folder_ / "drawn";
  const std::string program = fmt::format(
      "open('{}', 'a').write('%s %s,' % (hash('abc'), random.random()))\n"
      "print(1 + (os.path.realpath(os.getcwd()) in map(os.path.realpath, sys.path)))",
      path);
  EXPECT_EQ(said(scorer, program, kPrintsOne), "1,1,1");
  EXPECT_EQ(said(scorer, program, kPrintsOne), "1,1,1");
  const std::string drawn = io::read_file(path);
  const std::string first = drawn.substr(0, drawn.find(',') + 1);
  EXPECT_EQ(drawn, first + first);
}

TEST_F(CodeScorerTest, AProcessThatIsKilledInMidSampleIsAskedAgainAndNothingDiffers) {
  CodeScorer scorer(1);
  const std::string flag = folder_ / "killed";
  const std::string program = fmt::format(
      "if not os.path.exists('{0}'):\n"
      "    open('{0}', 'w').close()\n"
      "    os.kill(os.getppid(), 9)\n"
      "    time.sleep(60)\n"
      "print(1)",
      flag);
  EXPECT_EQ(said(scorer, program, kPrintsOne), "1,1,1");
  EXPECT_TRUE(std::filesystem::exists(flag));
}

TEST_F(CodeScorerTest, RunsWhenItIsAllowedAndElseTheStartSaysWhatIsMissing) {
  Prompt row;
  row.data_source = "codecontests";
  row.ground_truth = R"({"inputs": [""], "outputs": ["1"]})";
  row.file = "train.jsonl";
  row.line = 4;
  ScoringRules rules;
  io::Faults refused, fine, broken;
  find_unscorable({row}, refused, rules);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_NE(refused.list()[0].find("train.jsonl:4: data source \"codecontests\" (1 rows)"), std::string::npos);
  EXPECT_NE(refused.list()[0].find("reward.run_code=true"), std::string::npos);
  rules.code = std::make_shared<CodeScorer>(1);
  find_unscorable({row}, fine, rules);
  EXPECT_TRUE(fine.empty());
  const Answer answer{"codecontests", "print(1)", row.ground_truth};
  EXPECT_EQ(score_all(row, 0, {&answer, 1}, rules).front().value, 1.0f) << "without a fence too";
  row.ground_truth = R"({"inputs": ["1"], "outputs": []})";
  find_unscorable({row}, broken, rules);
  ASSERT_EQ(broken.size(), 1u);
}

TEST_F(CodeScorerTest, RowsWhoseCasesOrFunctionCannotBeRunAreFaults) {
  CodeScorer scorer(1);
  for (const auto& [name, fits] : std::initializer_list<std::pair<const char*, bool>>{
           {"null", true}, {"\"f_2\"", true}, {"\"\"", false}, {"\"2f\"", false}, {"\"f(\"", false}, {"7", false}}) {
    Prompt row;
    row.ground_truth = fmt::format(R"({{"fn_name": {}, "inputs": [[1]], "outputs": [1]}})", name);
    const auto fault = scorer.find_fault(row);
    EXPECT_EQ(!fault, fits) << name;
    if (fault) {
      EXPECT_TRUE(fault->starts_with("ground truth: expected a name as fn_name, found ")) << *fault;
    }
  }
  for (const char* cases : {R"({"inputs": [], "outputs": []})", R"({"inputs": [1], "outputs": []})",
                            R"({"inputs": 1, "outputs": 1})", R"({"inputs": [1]})", "[]", "7"}) {
    Prompt row;
    row.ground_truth = cases;
    const auto fault = scorer.find_fault(row);
    EXPECT_TRUE(fault && fault->find("of one length, not empty") != std::string::npos) << cases;
  }
}

}  // namespace
}  // namespace hone
