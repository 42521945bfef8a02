// The processes of reward functions of users: those that die, hang, print or are killed, and which of them gives a
// score.
#include <signal.h>

#include <chrono>
#include <set>
#include <thread>

#include "io/file.h"
#include "reward/python_scorer_test_cases.h"

namespace hone {
namespace {

using PythonScorerProcesses = PythonScorerTest;

TEST_F(PythonScorerProcesses, OneThatExitsOrSleepsForEverIsAbsentAloneAndTheOthersKeepTheirScores) {
  PythonScorerOptions with = options(R"(
import os, time
def compute_score(solution_str, **_):
    if solution_str == "3": os._exit(5)
    if solution_str == "5": time.sleep(1000)
    return int(solution_str)
)");
  with.seconds = 3;
  PythonScorer scorer(with);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(said(scorer, 8),
            "0 1 2 -(the reward function compute_score of reward.py ended with exit code 5) 4 "
            "-(the reward function compute_score of reward.py gave no answer within 3 s and was ended) 6 7");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
}

TEST_F(PythonScorerProcesses, TheSameForFunctionsOfLists) {
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

TEST_F(PythonScorerProcesses, AProcessThatIsKilledInMidSampleIsAskedAgainAndNothingDiffers) {
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

TEST_F(PythonScorerProcesses, WhatItPrintsGoesToTheLogAndNotBetweenTheReplies) {
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

TEST_F(PythonScorerProcesses, AnInterpreterThatIsNotThereIsNamedWithTheWayToGetIt) {
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

TEST_F(PythonScorerProcesses, ScoresAreThoseOfTheSampleWhicheverProcessGivesThem) {
  PythonScorerOptions with = options(R"(
import os, random, time
here = os.path.dirname(os.path.abspath(__file__))
def compute_score(solution_str, **_):
    open(os.path.join(here, "process%d" % os.getpid()), "w").close()
    while sum(name.startswith("process") for name in os.listdir(here)) < 3: time.sleep(0.01)  # all three are at work
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

TEST_F(PythonScorerProcesses, FolderAndRecursionLimitThatACallLeavesAreNotFoundByTheNext) {
  PythonScorer scorer(options(R"(
import os, sys
found = os.getcwd(), sys.getrecursionlimit()
def compute_score(solution_str, **_):
    same = found == (os.getcwd(), sys.getrecursionlimit())
    os.chdir("/")
    sys.setrecursionlimit(5000)
    return int(same)
)"));
  EXPECT_EQ(said(scorer, 3), "1 1 1");
}

TEST_F(PythonScorerProcesses, NumpyIsSeededForTheFirstCallThatImportsItToo) {
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

TEST_F(PythonScorerProcesses, AlarmsAndCopiesOfTheProcessAreTheFunctionsOwnBusiness) {
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

TEST_F(PythonScorerProcesses, AFileThatChangesLaterIsRunAsItWas) {
  PythonScorer scorer(
      options("import os\n"
              "def compute_score(solution_str, **_):\n"
              "    if solution_str == '0': os._exit(1)\n"
              "    return 1\n"));
  io::write_file(path(), "def compute_score(solution_str, **_): return 2");
  EXPECT_EQ(said(scorer, 2), "-(the reward function compute_score of reward.py ended with exit code 1) 1");
}

}  // namespace
}  // namespace hone
