// Reward functions of users: how they are called, what they give, and what cannot work.
#include "reward/python_scorer.h"

#include "reward/python_scorer_test_cases.h"
#include "reward/scorer.h"

namespace hone {
namespace {

TEST_F(PythonScorerTest, CallsVerlsSignatureWithWhatVerlGives) {
  EXPECT_EQ(said(R"(
def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    assert data_source == "mine" and ground_truth == "7" and type(solution_str) is str
    assert extra_info["index"] == 5 and extra_info["num_turns"] == 2, extra_info
    extra_info["index"] = 6  # not seen by the next call
    return int(solution_str) / 2
)",
                 3),
            "0 0.5 1");
  EXPECT_EQ(said("def compute_score(solution_str, **others): return len(others)", 1), "3");
  EXPECT_EQ(said("def compute_score(**all): return sorted(all) == ['data_source', 'extra_info', 'ground_truth', "
                 "'solution_str']",
                 1),
            "1");
}

TEST_F(PythonScorerTest, GroundTruthsKeepTheirKind) {
  prompt_.ground_truth_json = R"({"target":7,"parts":[1.5,"x"]})";
  EXPECT_EQ(said("def compute_score(data_source, solution_str, ground_truth, extra_info):\n"
                 "    return ground_truth['target'] + ground_truth['parts'][0]\n",
                 1),
            "8.5");
  prompt_.ground_truth_json.clear();  // where nobody keeps rows it is text alone
  EXPECT_EQ(said("def compute_score(solution_str, ground_truth): return ground_truth == '7'", 1), "1");
}

TEST_F(PythonScorerTest, DictsNoneAndEveryKindOfNumber) {
  EXPECT_EQ(said(R"(
from decimal import Decimal
from fractions import Fraction
class Tensor:
    def __float__(self): return 0.25
def compute_score(solution_str, **_):
    return [None, True, 3, Decimal("0.5"), Fraction(1, 4), Tensor(),
            {"score": 0.5, "acc": True, "pred": "x = 1", "tries": 3, "parts": [1, None], "left": None},
            {"score": None, "acc": False}][int(solution_str)]
)",
                 8),
            "-(the scorer gave none) 1 3 0.5 0.25 0.25 0.5,acc=1,pred=x = 1,tries=3,parts=[1, null] "
            "-(the scorer gave none),acc=0");
}

TEST_F(PythonScorerTest, WhatIsNoScoreIsAbsentAndSaysWhy) {
  EXPECT_EQ(said(R"(
def compute_score(solution_str, **_):
    return ["1.0", [1.0], float("nan"), float("inf"), {"acc": 1}, 10 ** 400, 1e300, object, 1][int(solution_str)]
)",
                 9),
            "-(gave str '1.0', expected a number) -(gave list [1.0], expected a number) -(gave nan) -(gave inf) "
            "-(gave a dict without \"score\": list ['acc']) -(gave int 1" +
                std::string(59, '0') +
                "..., expected a number) -(the reply is not a score: 1e+300 is too large) "
                "-(gave type <class 'object'>, expected a number) 1");
}

TEST_F(PythonScorerTest, AFailureIsOfItsSampleAloneAndNamedWithTheLineOfTheFile) {
  EXPECT_EQ(said("def inner(text):\n"
                 "    return 1 / (int(text) - 1)\n"
                 "def compute_score(solution_str, **_):\n"
                 "    import sys\n"
                 "    if solution_str == '2': sys.exit(3)\n"
                 "    if solution_str == '3': return again(solution_str)\n"
                 "    return inner(solution_str)\n"
                 "def again(text): return again(text)\n",
                 5),
            "-1 -(ZeroDivisionError: division by zero (reward.py:2)) -(SystemExit: 3 (reward.py:5)) "
            "-(RecursionError: maximum recursion depth exceeded (reward.py:8)) 0.33333334");
}

TEST_F(PythonScorerTest, AsyncFunctionsOfAGroupRunSideBySideEachWithItsTime) {
  PythonScorerOptions with = options(R"(
import asyncio
inside, most = 0, 0
async def compute_score(data_source, solution_str, ground_truth, extra_info):
    global inside, most
    inside += 1
    most = max(most, inside)
    await asyncio.sleep(1000 if solution_str == "2" else 0.05)
    inside -= 1
    if solution_str == "1": raise ValueError("no")
    return {"score": int(solution_str), "most": most}
)");
  with.seconds = 1;
  PythonScorer scorer(with);
  EXPECT_EQ(said(scorer, 4), "0,most=4 -(ValueError: no (reward.py:10)) -(gave no answer within 1 s) 3,most=4");
}

TEST_F(PythonScorerTest, CallsTrlsSignatureWithColumnsAndConversations) {
  prompt_.row = R"({"prompt":[{"role":"user","content":"3+4?"}],"answer":7,"level":"easy"})";
  EXPECT_EQ(said(R"(
def compute_score(prompts, completions, answer, **kwargs):
    assert prompts == [[{"role": "user", "content": "3+4?"}]] * 3, prompts
    assert answer == [7, 7, 7] and kwargs == {"level": ["easy"] * 3}, kwargs
    texts = [c[0]["content"] for c in completions]
    return [None if t == "1" else float(t) for t in texts]
)",
                 3),
            "0 -(the scorer gave none) 2");
  prompt_.row = R"({"prompt":"3+4=","answer":7})";
  EXPECT_EQ(said("async def compute_score(completions, **kwargs): return [len(c) for c in completions]", 2), "1 1");
  EXPECT_EQ(said("def compute_score(completions): return [1]", 2), "1 1") << "too few: each by itself";
  EXPECT_EQ(said("def compute_score(completions): return 'ab'", 2),
            "-(gave str 'ab', expected a list of 1) -(gave str 'ab', expected a list of 1)");
}

TEST_F(PythonScorerTest, CallsVerlsSignatureForBatches) {
  PythonScorerOptions with = options(R"(
def compute_score(data_sources, solution_strs, ground_truths, extra_infos, scale):
    n = len(solution_strs)
    assert data_sources == ["mine"] * n and ground_truths == ["7"] * n and extra_infos[n - 1]["index"] == 5
    return [{"score": scale * int(s), "acc": 1} for s in solution_strs]
)");
  with.kwargs.set("scale", 0.5);
  PythonScorer scorer(with);
  EXPECT_EQ(said(scorer, 3), "0,acc=1 0.5,acc=1 1,acc=1");
}

TEST_F(PythonScorerTest, WhatCannotWorkIsToldAtTheStart) {
  const auto expect = [](const std::string& said, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_NE(said.find(part), std::string::npos) << part << " in\n" << said;
  };
  expect(error_of("import os\nimport no_such_module\n"),
         {"reward.py cannot be loaded:\nTraceback", "line 2", "No module named 'no_such_module'", "HONE_PYTHON"});
  expect(error_of("def compute_score(:\n"), {"reward.py cannot be loaded", "line 1", "SyntaxError"});
  expect(error_of("import sys\nsys.exit(4)\n"), {"reward.py cannot be loaded", "SystemExit: 4"});
  expect(error_of("import os\nos._exit(4)\n"), {"ended with exit code 4"});
  expect(error_of("def score(solution_str): pass\ndef other(): pass\n"),
         {"has no function compute_score; it has: score, other"});
  expect(error_of("compute_score = 3\n"), {"compute_score is no function but int 3"});
  expect(error_of("def compute_score(text, gold): pass\n"),
         {"compute_score(text, gold) has none of the signatures", "f(prompts, completions"});
  expect(error_of("def compute_score(solution_str, gold): pass\n"), {"missing a required argument: 'gold'"});
  expect(error_of("def compute_score(solution_str): pass\n", io::Json::object({{"scale", 2}})),
         {"unexpected keyword argument 'scale'"});
  expect(error_of("def compute_score(solution_str, **_): pass\n", io::Json::object({{"extra_info", 2}})),
         {"reward_kwargs.extra_info: every call gives extra_info already"});
  expect(error_of("def compute_score(completions, answer): pass\n"), {"missing a required argument: 'answer'"});
  EXPECT_EQ(error_of("def f(completions, extra_info): pass\n", io::Json::object(), "f"), "no error");
  std::filesystem::remove(path());
  EXPECT_THROW(PythonScorer({.path = path()}), Error);
}

TEST_F(PythonScorerTest, ItsMarkIsTheSourceTheNameAndTheArgumentsAndNotTheProcesses) {
  const std::string source = "def compute_score(solution_str, **_): return 1\nother = compute_score\n";
  const std::string mark = PythonScorer(options(source)).mark();
  PythonScorerOptions more = options(source);
  more.num_workers = 2;
  EXPECT_EQ(PythonScorer(more).mark(), mark);
  more.kwargs.set("bonus", 1);
  EXPECT_NE(PythonScorer(more).mark(), mark);
  EXPECT_NE(PythonScorer(options(source, "other")).mark(), mark);
  EXPECT_NE(PythonScorer(options(source + "# edited\n")).mark(), mark);
}

TEST_F(PythonScorerTest, TakesItsPlaceAmongTheScorers) {
  ScoringRules rules;
  rules.custom = std::make_shared<PythonScorer>(options("def compute_score(solution_str, **_): return 0.25"));
  rules.scorers = {{"other", "gsm8k"}};
  Prompt other = prompt_;
  other.data_source = "other";
  const Answer answer{"mine", "#### 7", "7"};
  EXPECT_EQ(score_all(prompt_, 0, {&answer, 1}, rules).front().value, 0.25f);
  const Answer of_other{"other", "#### 7", "7"};
  EXPECT_EQ(score_all(other, 0, {&of_other, 1}, rules).front().value, 1.0f) << "named in reward.scorers";
  rules.format_weight = 2;
  rules.format = Format::hashes;
  const Score sum = score_all(prompt_, 0, {&answer, 1}, rules).front();
  EXPECT_EQ(sum.value, 2.25f);
  ASSERT_EQ(sum.extras.size(), 1u) << "format, and no acc: a number is no verdict";
  io::Faults faults;
  find_unscorable({prompt_, other}, faults, rules);
  EXPECT_TRUE(faults.empty());
}

}  // namespace
}  // namespace hone
