// Runs with a Python reward function: the bits of the native scorer's run, whatever the processes, after kills of
// either side, and what a user sees of a function that fails.
#include <gtest/gtest.h>

#include "support/python.h"
#include "support/tiny_run.h"

namespace hone::test {
namespace {

// The twin of gsm8k_flexible, as far as the characters of the tiny model go.
constexpr const char* kTwin = R"(
import re
def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    numbers = re.findall(r"-?\d+", solution_str)
    return 1.0 if numbers and numbers[-1] == ground_truth else 0.0
)";

// training_state/state.json without the hashes of data and reward function.
std::string without_hash(const std::string& state) {
  io::Json kept = io::Json::object();
  const io::Json all = io::parse_json(state, "state.json");
  for (const auto& [key, value] : all.as_object()) {
    if (key != "data_hash" && key != "scorer_hash") kept.set(key, value);
  }
  return kept.dump();
}

// The process of the last line that a function printed as "process N"; 0: there is none yet.
pid_t last_process(const std::string& log) {
  const std::string text = io::exists(log) ? io::read_file(log) : "";
  const size_t end = text.rfind('\n');
  const size_t at = end == std::string::npos ? end : text.rfind("] process ", end);
  return at == std::string::npos ? 0 : static_cast<pid_t>(std::stol(text.substr(at + 10)));
}

class PythonReward : public ::testing::Test {
 protected:
  PythonReward() { write_tiny_inputs(inputs_.path()); }
  void SetUp() override {
    if (has_python()) return;
    const Result result = run_hone(inputs_.path(), command("none", with(kTwin)));
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("apt-get install python3"), std::string::npos) << result.err;
    GTEST_SKIP() << kNoPython;
  }

  std::string run(const std::string& name) const { return inputs_ / name; }
  Arguments with(const std::string& source) const {
    io::write_file(inputs_ / "reward.py", source);
    return {"custom_reward_function.path=" + inputs_.path() + "/reward.py"};
  }
  Arguments command(const std::string& name, const Arguments& more) const {
    return tiny_train(inputs_.path(), run(name)) +
           Arguments{"trainer.total_training_steps=6", "trainer.save_freq=1", "actor_rollout_ref.rollout.n=6"} + more;
  }
  Result hone(const std::string& name, const Arguments& more) const {
    return run_hone(inputs_.path(), command(name, more));
  }

  TemporaryFolder inputs_{"python_reward"};
};

TEST_F(PythonReward, GivesTheBitsOfTheNativeScorerWhateverTheProcesses) {
  const Result native = hone("native", {"reward.scorers={hone/arithmetic: gsm8k_flexible}"});
  ASSERT_EQ(native.code, 0) << native.err;
  const auto expected = bits_of(run("native"));
  double right = 0;
  for (int64_t step = 1; step <= 6; ++step) {
    for (const io::Json& row : rollouts_of(run("native"), step)) right += row.at("score").as_double();
  }
  ASSERT_GT(right, 0) << "rewards of 0 alone prove nothing";
  std::map<std::string, std::string> first;
  for (const char* workers : {"1", "3"}) {
    const std::string name = std::string("python") + workers;
    const Result result = hone(name, with(kTwin) + Arguments{std::string("reward.num_workers=") + workers});
    ASSERT_EQ(result.code, 0) << result.err;
    auto bits = bits_of(run(name));
    if (first.empty()) first = bits;
    EXPECT_EQ(difference(first, bits), "");
    const std::string state = "training_state/state.json";
    EXPECT_EQ(without_hash(expected.at(state)), without_hash(bits[state]));
    for (const auto& [file, bytes] : expected) {  // dumps tell of verdicts, which a function has none of
      if (file != state && !file.starts_with("/rollouts")) {
        EXPECT_TRUE(bytes == bits[file]) << file;
      }
    }
    for (int64_t step = 1; step <= 6; ++step) {
      const auto rows = rollouts_of(run("native"), step), ours = rollouts_of(run(name), step);
      ASSERT_EQ(rows.size(), ours.size());
      for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].at("score"), ours[i].at("score"));
    }
  }
}

TEST_F(PythonReward, ARunThatIsKilledGoesOnToTheSameBitsAndLeavesNoProcessBehind) {
  const std::string slow = std::string(kTwin) +
                           "import time, os\n"
                           "fast = compute_score\n"
                           "def compute_score(**given):\n"
                           "    print('process', os.getpid())\n"
                           "    time.sleep(0.01)\n"
                           "    return fast(**given)\n";
  const Arguments more = with(slow) + Arguments{"reward.num_workers=2"};
  ASSERT_EQ(hone("undisturbed", more).code, 0);
  Command killed(inputs_.path(), command("killed", more));
  ASSERT_TRUE(killed.wait_until([&] { return num_lines(run("killed") + "/metrics.jsonl") >= 2; }));
  killed.send(SIGKILL);
  killed.wait();
  const pid_t pid = last_process(run("killed") + "/rewards.log");
  ASSERT_NE(pid, 0);
  const auto is_running = [&] {
    std::string stat;
    try {
      stat = io::read_file(fmt::format("/proc/{}/stat", pid));
    } catch (const Error&) {
      return false;
    }
    const char state = stat[stat.rfind(") ") + 2];
    return state != 'Z' && state != 'X';
  };
  for (int i = 0; i < 3000 && is_running(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(is_running());
  ASSERT_EQ(hone("killed", more).code, 0);
  EXPECT_EQ(difference(bits_of(run("undisturbed")), bits_of(run("killed"))), "");
}

TEST_F(PythonReward, AProcessThatIsKilledInARunChangesNoBitOfIt) {
  const std::string killed = inputs_ / "killed", log = run("disturbed") + "/rewards.log";
  const std::string waits = std::string(kTwin) +
                            "import time, os\n"
                            "inner = compute_score\n"
                            "def compute_score(**given):\n"
                            "    print('process', os.getpid())\n"
                            "    while not os.path.exists('" +
                            killed +
                            "'): time.sleep(0.01)\n"
                            "    return inner(**given)\n";
  const Arguments more = with(waits) + Arguments{"reward.num_workers=1"};
  Command disturbed(inputs_.path(), command("disturbed", more));
  ASSERT_TRUE(disturbed.wait_until([&] { return last_process(log) != 0; })) << disturbed.err();
  const pid_t pid = last_process(log);
  ::kill(pid, SIGKILL);
  io::write_file(killed, "");
  ASSERT_EQ(disturbed.wait(), 0) << disturbed.err();
  EXPECT_NE(last_process(log), pid) << "another one went on";
  ASSERT_EQ(hone("undisturbed", more).code, 0);
  EXPECT_EQ(difference(bits_of(run("undisturbed")), bits_of(run("disturbed"))), "");
}

TEST_F(PythonReward, AnotherFunctionIsRefusedAsOtherDataAreUnlessAskedFor) {
  const Arguments two{"trainer.total_training_steps=2"}, three{"trainer.total_training_steps=3"};
  ASSERT_EQ(hone("edited", with(kTwin) + two).code, 0);
  const auto before = bits_of(run("edited"));
  const Arguments edited = with(std::string(kTwin) + "# edited\n");
  Result result = hone("edited", edited + three);
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("the reward function's hash was"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("trainer.resume_allow_changes=true"), std::string::npos) << result.err;
  EXPECT_EQ(difference(before, bits_of(run("edited"))), "") << "a refused run touches nothing";
  EXPECT_EQ(hone("edited", with(kTwin) + three).code, 0) << "the first goes on";
  result = hone("edited", with(std::string(kTwin) + "# edited\n") +
                              Arguments{"trainer.total_training_steps=4", "trainer.resume_allow_changes=true"});
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(PythonReward, AFailedSampleIsAbsentAndNamedAndTheRunGoesOn) {
  const Result result = run_hone(
      inputs_.path(), command("fails", with("import os\n"
                                            "def compute_score(solution_str, extra_info, **_):\n"
                                            "    print('scored', extra_info['finish_reason'])\n"
                                            "    if len(solution_str) % 4 == 0: raise ValueError('of this length')\n"
                                            "    if len(solution_str) % 4 == 1: os._exit(3)\n"
                                            "    return {'score': 1, 'acc': 0.5}\n") +
                                           Arguments{"trainer.total_training_steps=1", "reward.max_absent_ratio=1"}));
  ASSERT_EQ(result.code, 0) << result.err;
  int64_t raised = 0, exited = 0;
  for (const io::Json& row : rollouts_of(run("fails"), 1)) {
    const std::string reason = row.find("reason") == nullptr ? "" : row.at("reason").as_string();
    raised += reason == "ValueError: of this length (reward.py:4)";
    exited += reason == "the reward function compute_score of reward.py ended with exit code 3";
    EXPECT_EQ(row.at("score").is_null(), !reason.empty());
    if (reason.empty()) {
      EXPECT_EQ(row.at("acc").as_double(), 0.5);
    }
  }
  EXPECT_GT(raised, 0);
  EXPECT_GT(exited, 0);
  EXPECT_EQ(metric(run("fails"), "training/num_absent_scores").front(), static_cast<double>(raised + exited));
  EXPECT_NE(result.err.find("train.jsonl:"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("ValueError: of this length"), std::string::npos) << result.err;
  const std::string log = io::read_file(run("fails") + "/rewards.log");
  EXPECT_NE(log.find("scored length"), std::string::npos) << log;
  EXPECT_NE(log.find("ValueError: of this length"), std::string::npos) << log;
}

TEST_F(PythonReward, WhatCannotWorkEndsBeforeTheModelIsLoaded) {
  const Arguments check{"--check"};
  const auto expect = [&](const Result& result, const char* part) {
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find(part), std::string::npos) << part << " in\n" << result.err;
    EXPECT_FALSE(io::exists(run("refused"))) << "nothing was made";
  };
  expect(hone("refused", with("import no_such_module") + check), "No module named 'no_such_module'");
  expect(hone("refused", with("def other(): pass") + check), "has no function compute_score; it has: other");
  expect(hone("refused", with("def compute_score(completions, answer): pass") + check),
         "train.jsonl:1: compute_score(completions, answer) cannot be called with");
  expect(hone("refused", Arguments{"custom_reward_function.path=/nonexistent.py"}), "/nonexistent.py");
  expect(run_hone(inputs_.path(), command("refused", with(kTwin)), {{"HONE_PYTHON", "/nonexistent/python3"}}),
         "apt-get install python3");
  EXPECT_EQ(hone("refused", with(kTwin) + check).code, 0);
}

TEST_F(PythonReward, TheNamesOfNewerAndOlderScriptsAreTaken) {
  io::write_file(inputs_ / "reward.py",
                 "def mine(solution_str, ground_truth, base, **_): return base + len(solution_str) % 2\n");
  const Result result = hone(
      "names", {"reward.custom_reward_function.path=" + inputs_.path() + "/reward.py",
                "reward.custom_reward_function.name=mine", "custom_reward_function.reward_kwargs.base=2",
                "reward_model.num_workers=2", "reward_model.reward_manager=batch", "trainer.total_training_steps=1"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const io::Json& row : rollouts_of(run("names"), 1)) EXPECT_GE(row.at("score").as_double(), 2);
}

TEST_F(PythonReward, TheRecipeRuns) {
  const std::string recipes = std::string(HONE_TEST_DATA) + "/../../recipes";
  const Result result = run_hone(inputs_.path(), {"train", "--quiet", recipes + "/python_reward/grpo.yaml",
                                                  "data.train_files=" + inputs_.path() + "/train.jsonl",
                                                  "actor_rollout_ref.model.path=" + recipes + "/dummy/model",
                                                  "custom_reward_function.path=" + recipes + "/python_reward/reward.py",
                                                  "trainer.default_local_dir=" + run("recipe")});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const io::Json& row : rollouts_of(run("recipe"), 3)) EXPECT_NE(row.find("pred"), nullptr);
}

TEST_F(PythonReward, ScoresFilesAndEvaluationsToo) {
  const Arguments custom{"--custom-reward", inputs_ / "reward.py:mine", "--reward-arg", "base=2"};
  io::write_file(inputs_ / "reward.py",
                 "def mine(solution_str, base, **_):\n"
                 "    print('not in the way')\n"
                 "    if solution_str == 'bad': raise ValueError('bad')\n"
                 "    return {'score': base + len(solution_str), 'pred': solution_str}\n");
  io::write_file(inputs_ / "answers.jsonl", R"({"output": "abc"})"
                                            "\n"
                                            R"({"output": "bad"})"
                                            "\n");
  const Result scored = run_hone(inputs_.path(), Arguments{"score", inputs_ / "answers.jsonl", "--json"} + custom);
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_NE(scored.out.find("\"score\": 5"), std::string::npos) << scored.out;
  EXPECT_NE(scored.out.find("ValueError: bad (reward.py:3)"), std::string::npos) << scored.out;
  EXPECT_NE(scored.out.find("\"rows\": 2, \"mean_score\": 5"), std::string::npos) << scored.out;
  EXPECT_EQ(scored.out.find("not in the way"), std::string::npos) << scored.out;
  EXPECT_NE(scored.err.find("not in the way"), std::string::npos) << scored.err;
  // a function's number has no verdict: it is right above 0
  io::write_file(inputs_ / "recorded.jsonl", R"({"output": "abc", "acc": 1})"
                                             "\n"
                                             R"({"output": "abcd", "acc": 0})"
                                             "\n");
  const Result audit =
      run_hone(inputs_.path(), Arguments{"score", inputs_ / "recorded.jsonl", "--audit", "recorded"} + custom);
  EXPECT_NE(audit.out.find("recorded differ on 1"), std::string::npos) << audit.out << audit.err;
  const Result evaluated =
      run_hone(inputs_.path(), Arguments{"eval", "--model", inputs_ / "model", "--data", inputs_ / "val.jsonl",
                                         "--max-new-tokens", "4", "--json"} +
                                   custom);
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_NE(evaluated.out.find("\"mean@1\": "), std::string::npos) << evaluated.out;
}

TEST_F(PythonReward, ScoredFilesTellTheLengthOfAnAnswerThatHasItsIds) {
  io::write_file(inputs_ / "reward.py",
                 "def compute_score(solution_str, extra_info, **_):\n"
                 "    return 10 * extra_info.get('response_length', 9) + (extra_info['finish_reason'] == 'length')\n");
  io::write_file(inputs_ / "answers.jsonl", R"({"output": "abc", "finish": "length", "response_ids": [5, 6, 7]})"
                                            "\n"
                                            R"({"output": "abc"})");
  const Result result = run_hone(
      inputs_.path(), {"score", inputs_ / "answers.jsonl", "--json", "--custom-reward", inputs_ / "reward.py"});
  ASSERT_EQ(result.code, 0) << result.err;
  const io::Json row = io::parse_json(result.out.substr(0, result.out.find('\n')), "score");
  EXPECT_EQ(row.at("score").as_double(), 31);
  EXPECT_NE(result.out.find("\"score\": 90"), std::string::npos) << "left out where it is not known: " << result.out;
}

TEST_F(PythonReward, ArgumentsOfTheCommandLineAreJsonPythonsConstantsOrTexts) {
  io::write_file(inputs_ / "reward.py",
                 "def compute_score(solution_str, **given):\n"
                 "    given = {key: given[key] for key in 'abcdef'}\n"
                 "    return {'score': 1, 'pred': repr(given)}\n");
  io::write_file(inputs_ / "answers.jsonl", "{\"output\": \"abc\"}\n");
  const Arguments score{"score", inputs_ / "answers.jsonl", "--json", "--custom-reward", inputs_ / "reward.py"};
  const Result result = run_hone(
      inputs_.path(), score + Arguments{"--reward-arg", "a=True", "--reward-arg", "b=false", "--reward-arg", "c=None",
                                        "--reward-arg", "d=1.5", "--reward-arg", "e=x=y", "--reward-arg", "f={}"});
  ASSERT_EQ(result.code, 0) << result.err;
  const io::Json row = io::parse_json(result.out.substr(0, result.out.find('\n')), "score");
  EXPECT_EQ(row.at("pred").as_string(), "{'a': True, 'b': False, 'c': None, 'd': 1.5, 'e': 'x=y', 'f': {}}");
  const Result refused = run_hone(inputs_.path(), score + Arguments{"--reward-arg", "base"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--reward-arg: expected NAME=VALUE, found 'base'"), std::string::npos) << refused.err;
}

TEST_F(PythonReward, WhatItReportsTakesNoNameOfTheResultsOwn) {
  io::write_file(inputs_ / "reward.py",
                 "def compute_score(solution_str, **_): return {'score': 1, 'n': 7, 'reward': 5, 'finish': 3}\n");
  const Result result =
      run_hone(inputs_.path(),
               Arguments{"eval", "--model", inputs_ / "model", "--data", inputs_ / "val.jsonl", "--max-new-tokens", "2",
                         "--json", "--dump", inputs_ / "dump.jsonl", "--custom-reward", inputs_ / "reward.py"});
  ASSERT_EQ(result.code, 0) << result.err;
  const io::Json line = io::parse_json(result.out, "eval");
  EXPECT_EQ(line.at("n").as_int(), 1);
  EXPECT_EQ(line.at("extra_n").at("mean@1").as_double(), 7);
  EXPECT_EQ(line.at("reward").at("mean@1").as_double(), 1);
  EXPECT_EQ(line.at("extra_reward").at("mean@1").as_double(), 5);
  const std::string dump = io::read_file(inputs_ / "dump.jsonl");
  const io::Json row = io::parse_json(dump.substr(0, dump.find('\n')), "dump");
  EXPECT_TRUE(row.at("finish").is_string());
  EXPECT_EQ(row.at("extra_finish").as_double(), 3);
  EXPECT_EQ(row.at("extra_reward").as_double(), 5);
  EXPECT_EQ(row.find("reward"), nullptr) << "the reward is the score";
}

}  // namespace
}  // namespace hone::test
