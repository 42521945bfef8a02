// Run: what every training command shares: the run folder, where to start, metrics, checkpoints, leaving.
//   FOLDER/config.yaml                    effective options
//   FOLDER/metrics.jsonl                  one line a step; cut back to the checkpoint on resume
//   FOLDER/tensorboard/                   event files, and other loggers' files (loggers.h)
//   FOLDER/rollouts/N.jsonl               every sample of step N
//   FOLDER/rewards.log                    what the user's reward function prints
//   FOLDER/validation/N.jsonl             every sample of the validation after step N
//   FOLDER/checkpoints/global_step_N/     checkpoint.h
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/watchdog.h"
#include "io/folder_lock.h"
#include "io/json.h"
#include "io/line_file.h"
#include "loop/checkpoint.h"
#include "loop/interrupt.h"
#include "loop/loggers.h"
#include "loop/metrics.h"

namespace hone {

struct RunOptions {
  std::string folder;
  std::string kind;            // "grpo" or "sft"
  std::string summary;         // of the run in one line, for people
  int64_t num_parameters = 0;  // of the model: what a checkpoint takes
  int64_t total_steps = 0;
  int64_t save_freq = -1;            // steps between checkpoints; the last step is always saved
  int64_t max_to_keep = 0;           // 0: all
  std::string resume_mode = "auto";  // auto, disable, resume_path
  std::string resume_from_path;
  bool allow_changes = false;  // go on although data or numeric mode differ
  bool val_only = false;       // nothing is trained: of the folder's run only validation/ is written
  bool quiet = false;
  LoggerOptions loggers;
  double watchdog_seconds = 0;      // 0: none
  int64_t max_nonfinite_steps = 0;  // stop after so many steps without a finite update; 0: never
  // Options that change results and differ from an effective config saved earlier, one line each.
  std::function<std::vector<std::string>(const io::Json& saved)> changes_since;
  std::string effective_config, data_hash, numeric_mode;
  std::string scorer_hash;  // TrainingState::scorer_hash
  std::string form;         // TrainingState::form
};

// The checkpoint that a run with these options goes on from, if any, checked as far as is cheap; touches nothing.
// Raises Error: a folder that is a file, a damaged checkpoint, other data, another
// reward function, another numeric mode, a folder of another
// run with resume_mode disable, no room for the checkpoints to come.
std::optional<std::string> find_start(const RunOptions& options);

// A guard ends the run before a step has changed anything: exit code 4.
class StoppedByGuard : public Error {
 public:
  StoppedByGuard(const std::string& message, std::string hint) : Error(message, std::move(hint), 4) {}
};

class Run {
 public:
  // Makes the folder, starts as find_start says and tells of the run. Raises Error with exit code 3 when nothing is
  // left to do.
  explicit Run(RunOptions options);

  // The checkpoint to continue from, if any, and its state; before that a fresh state.
  const std::optional<std::string>& checkpoint() const { return checkpoint_; }
  const TrainingState& state() const { return state_; }

  // Tells the run which weights its adapters belong to. Raises Error when the checkpoint's were trained on others.
  void set_base(const std::string& base_hash);

  // One step of the run, given the number of the step from 1, and what to save after it. A step that a guard stops
  // leaves what is saved as it was after the step before.
  using Step = std::function<Metrics(int64_t global_step)>;
  using Save = std::function<void(TrainingState& state, const std::string& checkpoints_folder)>;
  using StepLine = std::function<std::string(const Metrics& metrics)>;
  // Steps until the end or an interruption; saves when it is time. Returns the exit code: 0, or 130. Raises Error with
  // exit code 4 when a guard stops the run, after the last good state has been saved.
  int loop(const Step& step, const Save& save, const StepLine& line);
  // A metrics line that belongs to no step of its own (validation before training); written once, not on resume.
  void record(Metrics metrics, int64_t global_step);

  // Of the whole run: what schedules are made for.
  int64_t total_steps() const { return options_.total_steps; }
  // Called in a step: the run ends with it, before its total.
  void end_with(int64_t global_step) { last_step_ = global_step; }
  // Called in a step: it is saved whatever save_freq says.
  void save_with(int64_t global_step) { due_step_ = global_step; }
  bool is_last(int64_t global_step) const { return global_step == last_step_; }
  bool quiet() const { return options_.quiet; }
  std::string folder(const std::string& name) const;  // inside the run's
  std::string checkpoints_folder() const;

 private:
  void tell_changes() const;
  void open_folder();
  void cut_back_metrics(const std::string& path, int64_t last_step);
  Metrics measured(const Step& step, int64_t global_step);
  void count_nonfinite(bool nothing_finite);
  void stop_when_nothing_is_finite(int64_t global_step, const Save& save);
  void save_now(int64_t global_step, const Save& save);

  RunOptions options_;
  Watchdog watchdog_;
  io::FolderLock lock_;  // one process at a time works in the folder
  std::optional<std::string> checkpoint_;
  TrainingState state_;
  std::unique_ptr<io::LineFile> metrics_;
  std::unique_ptr<Loggers> loggers_;
  int64_t last_step_ = 0, due_step_ = -1;
  int64_t saved_step_ = -1;
  std::optional<double> save_seconds_;  // of a save that no metrics line tells of yet
  int64_t nonfinite_steps_ = 0;         // the last ones in a row, of which a model has no finite update
};

}  // namespace hone
