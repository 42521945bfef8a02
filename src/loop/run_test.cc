#include "loop/run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <thread>

#include "io/file.h"
#include "io/yaml.h"
#include "models/tiny_config.h"

namespace hone {
namespace {

namespace fs = std::filesystem;
using TrainingRun = hone::Run;  // in a test, Run is the method of its base

// Runs whose steps do nothing but say what came of their updates.
class RunOfNothing : public ::testing::Test {
 protected:
  RunOfNothing() : folder_((fs::temp_directory_path() / ("hone-run-" + std::to_string(::getpid()))).string()) {
    fs::remove_all(folder_);
    decoder_.initialize(1);
  }
  ~RunOfNothing() override { fs::remove_all(folder_); }

  RunOptions options(int64_t total_steps) const {
    RunOptions options;
    options.folder = folder_;
    options.kind = "grpo";
    options.total_steps = total_steps;
    options.quiet = true;
    options.effective_config = "{}\n";
    options.changes_since = [](const io::Json&) { return std::vector<std::string>(); };
    return options;
  }
  // As if the one option that changes results had this value.
  RunOptions options(int64_t total_steps, const std::string& lr) const {
    RunOptions options = this->options(total_steps);
    options.effective_config = "lr: " + lr + "\n";
    options.changes_since = [lr](const io::Json& saved) {
      const std::string before = io::flow_yaml(saved.at("lr"));
      return before == lr ? std::vector<std::string>() : std::vector<std::string>{"lr was " + before};
    };
    return options;
  }
  // What the start of a run says on standard error; with `steps` it is run to its end.
  std::string told_by(const RunOptions& options, bool steps) {
    ::testing::internal::CaptureStderr();
    {
      TrainingRun run(options);
      if (steps) outcome(run, [](int64_t) { return metrics(true); });
    }
    return ::testing::internal::GetCapturedStderr();
  }
  static Metrics metrics(bool finite) {
    Metrics m;
    m.set("training/num_updates", finite ? 2 : 0);
    m.set("training/num_steps_not_finite", finite ? 0 : 2);
    m.set("perf/total_num_tokens", 10);
    return m;
  }
  TrainingRun::Save save() {
    return [this](TrainingState& state, const std::string& folder) {
      save_checkpoint(folder, state, decoder_, optimizer_, {});
    };
  }
  std::vector<int64_t> saved() const { return list_checkpoints(folder_ + "/checkpoints"); }
  static std::string line(const Metrics&) { return ""; }
  // The guard's words when it stops the run, else "ended".
  std::string outcome(TrainingRun& run, const TrainingRun::Step& step) { return outcome(run, step, save()); }
  static std::string outcome(TrainingRun& run, const TrainingRun::Step& step, const TrainingRun::Save& save_step) {
    try {
      run.loop(step, save_step, line);
    } catch (const StoppedByGuard& stop) {
      EXPECT_EQ(stop.exit_code(), 4);
      return stop.what();
    }
    return "ended";
  }
  std::string folder_;
  Decoder decoder_{tiny_model_config(23, 6), DType::f32};
  Optimizer optimizer_{decoder_, {}};
};

TEST_F(RunOfNothing, EndsWhenNoUpdateOfTheLastStepsWasFiniteAndSavesTheWeightsThatAreGood) {
  RunOptions o = options(20);
  o.max_nonfinite_steps = 3;
  TrainingRun run(o);
  // steps 2, 3 are not enough; 5, 6, 7 are
  const std::string words = outcome(run, [](int64_t step) { return metrics(step == 1 || step == 4); });
  EXPECT_NE(words.find("step 7: not one update of the last 3 steps was finite"), std::string::npos) << words;
  EXPECT_EQ(saved(), (std::vector<int64_t>{7}));
}

TEST_F(RunOfNothing, EndsWhenNoUpdateOfTheCriticWasFinite) {
  RunOptions o = options(20);
  o.max_nonfinite_steps = 3;
  TrainingRun run(o);
  const auto step = [](int64_t number) {
    Metrics m = metrics(true);
    m.set("critic/num_updates", number < 4 ? 2 : 0);
    m.set("critic/num_updates_not_finite", number < 4 ? 0 : 2);
    return m;
  };
  const std::string words = outcome(run, step);
  EXPECT_NE(words.find("step 6: not one update of the last 3 steps was finite"), std::string::npos) << words;
}

TEST_F(RunOfNothing, SaysSoWhenTheWeightsAreNotWorthSaving) {
  RunOptions o = options(20);
  o.max_nonfinite_steps = 2;
  TrainingRun run(o);
  const auto refuse = [](TrainingState&, const std::string&) { throw Error("weights are not finite", "", 4); };
  const std::string words = outcome(
      run, [](int64_t) { return metrics(false); }, refuse);
  EXPECT_NE(words.find("step 2"), std::string::npos) << words;
  EXPECT_NE(words.find("weights are not finite"), std::string::npos) << words;
  EXPECT_TRUE(saved().empty());
}

TEST_F(RunOfNothing, CountsStepsThatAreNotFiniteAcrossAResume) {
  const auto never_finite = [](int64_t) { return metrics(false); };
  {
    RunOptions o = options(2);
    o.max_nonfinite_steps = 3;
    TrainingRun run(o);
    EXPECT_EQ(outcome(run, never_finite), "ended");
  }
  RunOptions o = options(20);
  o.max_nonfinite_steps = 3;
  TrainingRun run(o);
  const std::string words = outcome(run, never_finite);
  EXPECT_NE(words.find("step 3: not one update of the last 3 steps"), std::string::npos) << words;
}

TEST_F(RunOfNothing, NeverStopsWhenTheGuardIsOff) {
  TrainingRun run(options(20));
  EXPECT_EQ(outcome(run, [](int64_t) { return metrics(false); }), "ended");
}

TEST_F(RunOfNothing, AStepThatAGuardStopsLeavesTheStateOfTheStepBefore) {
  TrainingRun run(options(20));
  const auto step = [](int64_t number) -> Metrics {
    if (number == 4) throw StoppedByGuard("scores are absent", "");
    return metrics(true);
  };
  EXPECT_EQ(outcome(run, step), "step 4: scores are absent");
  EXPECT_EQ(saved(), (std::vector<int64_t>{3}));
  const std::string lines = io::read_file(folder_ + "/metrics.jsonl");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);
}

TEST_F(RunOfNothing, AStepThatHangsIsToldByTheWatchdog) {
  RunOptions o = options(1);
  o.watchdog_seconds = 0.1;
  ::testing::internal::CaptureStderr();
  {
    TrainingRun run(o);
    const auto step = [](int64_t) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      return metrics(true);
    };
    EXPECT_EQ(outcome(run, step), "ended");
  }
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("watchdog: no progress for"), std::string::npos) << told;
  EXPECT_NE(told.find("main loop"), std::string::npos) << told;
  EXPECT_NE(told.find("step 1"), std::string::npos) << told;
}

TEST_F(RunOfNothing, TellsOfOptionsThatAreNotThoseOfTheCheckpointItGoesOnFrom) {
  EXPECT_EQ(told_by(options(2, "1"), true), "");
  // starts that end before they save anything leave the checkpoint what it was
  for (int start = 0; start < 2; ++start) EXPECT_EQ(told_by(options(4, "2"), false), "note: lr was 1\n");
  EXPECT_EQ(told_by(options(4, "1"), false), "");
  EXPECT_EQ(told_by(options(4, "2"), true), "note: lr was 1\n");
  EXPECT_EQ(told_by(options(6, "2"), true), "");
  // into a folder whose own runs had yet other options
  RunOptions other = options(9, "3"), elsewhere = options(9, "1");
  other.folder = elsewhere.folder = folder_ + "/other";
  told_by(other, false);
  elsewhere.resume_mode = "resume_path";
  elsewhere.resume_from_path = checkpoint_path(folder_ + "/checkpoints", 2);
  EXPECT_EQ(told_by(elsewhere, false), "");
  elsewhere.resume_from_path = checkpoint_path(folder_ + "/checkpoints", 4);
  EXPECT_EQ(told_by(elsewhere, false), "note: lr was 2\n");
  elsewhere.allow_changes = true;
  EXPECT_EQ(told_by(elsewhere, false), "");
}

TEST_F(RunOfNothing, OfTheOptionsOfACheckpointThatWasSavedWithoutThemItSaysNothing) {
  told_by(options(2, "1"), true);
  const std::string saved = checkpoint_path(folder_ + "/checkpoints", 2) + "/training_state/config.yaml";
  EXPECT_EQ(io::read_file(saved), "lr: 1\n");
  fs::remove(saved);
  EXPECT_EQ(told_by(options(4, "2"), false), "");
}

TEST_F(RunOfNothing, TheTimeOfASaveIsToldWithTheNextStep) {
  RunOptions o = options(3);
  o.save_freq = 1;
  TrainingRun run(o);
  EXPECT_EQ(outcome(run, [](int64_t) { return metrics(true); }), "ended");
  std::istringstream lines(io::read_file(folder_ + "/metrics.jsonl"));
  std::vector<bool> told;
  for (std::string text; std::getline(lines, text);) {
    told.push_back(text.find("timing_s/save_checkpoint") != std::string::npos);
  }
  EXPECT_EQ(told, (std::vector<bool>{false, true, true}));
}

}  // namespace
}  // namespace hone
