// Reward functions of users, with all that they do wrong. Where there is no Python the message has to say so.
#include "reward/python_scorer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/json.h"
#include "reward/scorer.h"

namespace hone {
namespace {

class PythonScorerTest : public ::testing::Test {
 protected:
  PythonScorerTest() {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("hone_reward_{}", ::getpid());
    std::filesystem::create_directories(folder_);
    prompt_.data_source = "mine";
    prompt_.ground_truth = "7";
    prompt_.text = "3+4=";
    prompt_.file = "rows.jsonl";
    prompt_.line = 12;
    prompt_.row =
        R"({"data_source":"mine","prompt":"3+4=","reward_model":{"ground_truth":"7"},"extra_info":{"index":5}})";
  }
  ~PythonScorerTest() override { std::filesystem::remove_all(folder_); }

  void SetUp() override {
    static const bool has_python = std::system("python3 -c 'import sys' >/dev/null 2>&1") == 0;
    if (has_python) return;
    const std::string said = error_of("def compute_score(solution_str): return 1");
    EXPECT_NE(said.find("cannot start 'python3'"), std::string::npos) << said;
    GTEST_SKIP() << "there is no python3";
  }

  std::string path() const { return folder_ / "reward.py"; }
  PythonScorerOptions options(const std::string& source, const std::string& name = "compute_score") const {
    io::write_file(path(), source);
    PythonScorerOptions options;
    options.path = path();
    options.name = name;
    options.seconds = 20;
    return options;
  }
  std::string error_of(const std::string& source, io::Json kwargs = io::Json::object(),
                       const std::string& name = "compute_score") const {
    try {
      PythonScorerOptions with = options(source, name);
      with.kwargs = std::move(kwargs);
      PythonScorer scorer(with);
      if (const auto fault = scorer.find_fault(prompt_)) return *fault;
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  std::vector<Score> scores(PythonScorer& scorer, const std::vector<std::string>& texts) const {
    std::vector<Answer> answers;
    for (const std::string& text : texts) {
      answers.push_back({prompt_.data_source, text, prompt_.ground_truth});
      answers.back().sample = static_cast<uint32_t>(answers.size() - 1);
    }
    return scorer.score(prompt_, 3, answers);
  }
  // "1 0.5 -(why)" for the answers "0", "1", ... of a group.
  std::string said(PythonScorer& scorer, int n) const {
    std::vector<std::string> texts;
    for (int i = 0; i < n; ++i) texts.push_back(std::to_string(i));
    std::string all;
    for (const Score& score : scores(scorer, texts)) {
      if (!all.empty()) all += ' ';
      all += score.value ? fmt::format("{}", *score.value) : "-(" + score.reason + ")";
      for (const ScoreExtra& extra : score.extras) {
        const auto* number = std::get_if<double>(&extra.value);
        all += "," + extra.name + "=" + (number ? fmt::format("{}", *number) : std::get<std::string>(extra.value));
      }
    }
    return all;
  }
  std::string said(const std::string& source, int n) const {
    PythonScorer scorer(options(source));
    return said(scorer, n);
  }

  std::filesystem::path folder_;
  Prompt prompt_;
};

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
  prompt_.truth = R"({"target":7,"parts":[1.5,"x"]})";
  EXPECT_EQ(said("def compute_score(data_source, solution_str, ground_truth, extra_info):\n"
                 "    return ground_truth['target'] + ground_truth['parts'][0]\n",
                 1),
            "8.5");
  prompt_.truth.clear();  // where nobody keeps rows it is text alone
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

TEST_F(PythonScorerTest, OneThatExitsOrSleepsForEverIsAbsentAloneAndTheOthersKeepTheirScores) {
  PythonScorerOptions with = options(R"(
import os, time
def compute_score(solution_str, **_):
    if solution_str == "3": os._exit(5)
    if solution_str == "5": time.sleep(1000)
    return int(solution_str)
)");
  with.seconds = 0.5;
  PythonScorer scorer(with);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(said(scorer, 8),
            "0 1 2 -(the reward function compute_score of reward.py ended with exit code 5) 4 "
            "-(the reward function compute_score of reward.py gave no answer within 0.5 s and was ended) 6 7");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
}

TEST_F(PythonScorerTest, TheSameForFunctionsOfLists) {
  PythonScorerOptions with = options(R"(
import os, time
def compute_score(prompts, completions, **_):
    if "3" in completions: os._exit(5)
    if "1" in completions: raise ValueError("one")
    return [int(text) for text in completions]
)");
  PythonScorer scorer(with);
  EXPECT_EQ(said(scorer, 5),
            "0 -(ValueError: one (reward.py:5)) 2 -(the reward function compute_score of reward.py ended with exit "
            "code 5) 4");
}

TEST_F(PythonScorerTest, AProcessThatIsKilledInMidSampleIsAskedAgainAndNothingDiffers) {
  const std::string log = folder_ / "log", killed = folder_ / "killed";
  PythonScorer scorer(
      options("import time, os\n"
              "def compute_score(solution_str, **_):\n"
              "    print('at work', os.getpid())\n"
              "    while not os.path.exists('" +
              killed +
              "'): time.sleep(0.01)\n"
              "    return 7\n"));
  scorer.keep_output(log);
  std::thread killer([&] {
    for (int i = 0; i < 2000; ++i) {
      const std::string text = io::exists(log) ? io::read_file(log) : "";
      if (const size_t at = text.find("at work "); text.find('\n', at) != std::string::npos) {
        ::kill(static_cast<pid_t>(std::stol(text.substr(at + 8))), SIGKILL);
        io::write_file(killed, "");
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  EXPECT_EQ(said(scorer, 1), "7");
  killer.join();
  const std::string text = io::read_file(log);
  EXPECT_NE(text.find("at work"), text.rfind("at work")) << "asked twice: " << text;
}

TEST_F(PythonScorerTest, WhatItPrintsGoesToTheLogAndNotBetweenTheReplies) {
  {
    PythonScorer scorer(options(R"(
import os, subprocess, sys
print("loaded")
def compute_score(solution_str, **_):
    print("to stdout", solution_str)
    print("to stderr", file=sys.stderr)
    os.write(1, b"raw bytes \xff\n")
    subprocess.run(["echo", "of a child"])
    sys.stdout.write("no line end")
    if solution_str == "1": raise ValueError("with a\nlong story")
    return 1
)"));
    EXPECT_EQ(said(scorer, 1), "1");
    scorer.keep_output(folder_ / "log");
    EXPECT_EQ(said(scorer, 2), "1 -(ValueError: with a long story (reward.py:10))");
  }
  const std::string log = io::read_file(folder_ / "log");
  for (const char* line : {"[0] loaded\n", "to stdout 0\n", "[0] to stderr\n", "raw bytes \xff\n", "of a child\n",
                           "-- rows.jsonl:12, sample 1:\n", "[0] Traceback", "[0] long story\n"}) {
    EXPECT_NE(log.find(line), std::string::npos) << line << " in\n" << log;
  }
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

TEST_F(PythonScorerTest, AnInterpreterThatIsNotThereIsNamedWithTheWayToGetIt) {
  ::setenv("HONE_PYTHON", "/nonexistent/python3", 1);
  try {
    PythonScorer scorer(options("def compute_score(solution_str): return 1"));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot start '/nonexistent/python3'"), std::string::npos) << error.what();
    EXPECT_NE(error.hint().find("apt-get install python3"), std::string::npos) << error.hint();
  }
  ::unsetenv("HONE_PYTHON");
}

TEST_F(PythonScorerTest, ScoresAreThoseOfTheSampleWhicheverProcessGivesThem) {
  PythonScorerOptions with = options(R"(
import os, random, time
def compute_score(solution_str, **_):
    time.sleep(0.002 * (int(solution_str) % 3))
    order = "".join({"a", "b", "c", "d", solution_str})  # by hashes
    return {"score": random.random(), "order": order, "process": os.getpid()}
)");
  with.num_workers = 3;
  PythonScorer scorer(with);
  const auto run = [&](std::set<double>& processes) {
    std::vector<std::string> all(12);
    std::vector<std::set<double>> seen(3);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = t; i < all.size(); i += 3) {
          const std::string text = std::to_string(i);
          const Answer answer{"mine", text, "7", FinishReason::end, 0, static_cast<uint32_t>(i)};
          const Score score = scorer.score(prompt_, 3, {&answer, 1}).front();
          all[i] = fmt::format("{} {}", score.value.value_or(-1), std::get<std::string>(score.extras[0].value));
          seen[t].insert(std::get<double>(score.extras[1].value));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& set : seen) processes.insert(set.begin(), set.end());
    return all;
  };
  std::set<double> processes;
  const auto first = run(processes);
  EXPECT_EQ(run(processes), first);
  EXPECT_EQ(processes.size(), 3u);
  EXPECT_EQ(std::set<std::string>(first.begin(), first.end()).size(), first.size()) << "each its own random numbers";
}

TEST_F(PythonScorerTest, NumpyIsSeededForTheFirstCallThatImportsItToo) {
  std::filesystem::create_directories(folder_ / "modules");
  io::write_file(folder_ / "modules" / "numpy.py",  // a stand-in, whose number is its seed
                 "class random:\n"
                 "    number = -1\n"
                 "    @staticmethod\n"
                 "    def seed(seed): random.number = seed % 1000\n");
  const char* before = std::getenv("PYTHONPATH");
  const std::string restored = before == nullptr ? "" : before;
  ::setenv("PYTHONPATH", (folder_ / "modules").c_str(), 1);
  {
    PythonScorer scorer(
        options("def compute_score(solution_str, **_):\n"
                "    import numpy\n"
                "    return numpy.random.number\n"));
    const std::string first = said(scorer, 1);
    EXPECT_NE(first, "-1");
    EXPECT_EQ(said(scorer, 1), first);
  }
  before == nullptr ? ::unsetenv("PYTHONPATH") : ::setenv("PYTHONPATH", restored.c_str(), 1);
}

TEST_F(PythonScorerTest, AlarmsAndCopiesOfTheProcessAreTheFunctionsOwnBusiness) {
  EXPECT_EQ(said(R"(
import os, signal
def late(*_): raise TimeoutError("late")
def compute_score(solution_str, **_):
    signal.signal(signal.SIGALRM, late)
    if solution_str == "1": os.fork()
    if solution_str == "2":
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        while True: pass
    signal.alarm(1000)  # left behind
    return int(solution_str)
)",
                 4),
            "0 1 -(TimeoutError: late (reward.py:3)) 3");
}

TEST_F(PythonScorerTest, AFileThatChangesLaterIsRunAsItWas) {
  PythonScorer scorer(
      options("import os\n"
              "def compute_score(solution_str, **_):\n"
              "    if solution_str == '0': os._exit(1)\n"
              "    return 1\n"));
  io::write_file(path(), "def compute_score(solution_str, **_): return 2");
  EXPECT_EQ(said(scorer, 2), "-(the reward function compute_score of reward.py ended with exit code 1) 1");
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
