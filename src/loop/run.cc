#include "loop/run.h"

#include <charconv>
#include <chrono>
#include <filesystem>

#include "core/activity.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/json.h"
#include "io/system_calls.h"
#include "io/yaml.h"
#include "loop/checks.h"
#include "loop/process_memory.h"

namespace hone {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Rollout dumps of steps after the checkpoint belong to a future that did not happen; halves of them to killed writers.
void clean_rollouts(const std::string& folder, int64_t last_step) {
  if (!io::is_folder(folder)) return;
  io::remove_leftovers(folder);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string stem = entry.path().stem().string();
    const char* end = stem.data() + stem.size();
    int64_t step = 0;
    const auto parsed = std::from_chars(stem.data(), end, step);
    const bool is_dump = parsed.ec == std::errc() && parsed.ptr == end && entry.path().extension() == ".jsonl";
    if (is_dump && step > last_step) io::remove_tree(entry.path().string());
  }
}

double number_or_zero(const io::Json& metrics, const char* name) {
  const io::Json* value = metrics.find(name);
  return value != nullptr && value->is_number() ? value->as_double() : 0.0;
}

// Of a step's metrics: whether the policy or the critic was updated, but never by a finite gradient.
bool nothing_finite(const std::function<double(const char*)>& number) {
  const auto of = [&](const char* applied, const char* not_finite) {
    return number(not_finite) > 0 && number(applied) == 0;
  };
  return of("training/num_updates", "training/num_steps_not_finite") ||
         of("critic/num_updates", "critic/num_updates_not_finite");
}

void check_fits(const RunOptions& options, const std::string& checkpoint, const TrainingState& state) {
  const auto differs = [&](const char* what, const std::string& saved, const std::string& now) {
    if (saved == now) return;
    throw Error(fmt::format("{}: {} was {}, now it is {}", checkpoint, what, saved, now),
                "trainer.resume_allow_changes=true goes on all the same; the run is then not the undisturbed one");
  };
  if (state.kind != options.kind) {
    throw Error(fmt::format("{}: saved by {}, this is {}", checkpoint, state.kind, options.kind),
                "to start from its weights, name it as the model instead");
  }
  if (state.form != options.form) {
    throw Error(fmt::format("{}: its training state is of {}; expected {}", checkpoint, state.form, options.form),
                "go on with the options it was saved with, or train on from its weights in a run folder of its own");
  }
  if (options.allow_changes) return;
  differs("numeric mode", state.numeric_mode, options.numeric_mode);
  differs("the data's hash", state.data_hash, options.data_hash);
  const auto told = [](const std::string& hash) { return hash.empty() ? std::string("none") : hash; };
  differs("the reward function's hash", told(state.scorer_hash), told(options.scorer_hash));
}

// The newest complete one, which has to be sound: going on from an older one is for the user to say.
std::optional<std::string> newest_checkpoint(const std::string& folder, const std::vector<int64_t>& steps) {
  if (steps.empty()) return std::nullopt;
  std::string path = checkpoint_path(folder, steps.back());
  try {
    check_checkpoint(path);
  } catch (const Error& error) {
    const std::optional<int64_t> sound = newest_sound_checkpoint(folder, steps.back());
    throw Error(fmt::format("the newest checkpoint is damaged: {}", error.what()),
                sound
                    ? fmt::format("trainer.resume_mode=resume_path trainer.resume_from_path={} goes on from the newest "
                                  "good one",
                                  checkpoint_path(folder, *sound))
                    : "there is no other good one: remove the run folder to begin anew");
  }
  return path;
}

std::string named_checkpoint(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (!io::is_folder(path)) {
    throw Error(fmt::format("trainer.resume_from_path: expected a folder, found {} at {}",
                            io::exists(path) ? "a file" : "nothing", path),
                "name a folder RUN/checkpoints/global_step_N");
  }
  check_checkpoint(path);
  return path;
}

}  // namespace

std::optional<std::string> find_start(const RunOptions& options) {
  const std::string folder = io::join_path(options.folder, "checkpoints");
  for (const char* name : {".", "checkpoints", "rollouts", "validation"}) {
    const std::string path = name == std::string(".") ? options.folder : io::join_path(options.folder, name);
    if (!io::exists(path) || io::is_folder(path)) continue;
    throw Error(fmt::format("{}: expected a folder, found a file", path),
                "move it away, or name another trainer.default_local_dir");
  }
  const std::vector<int64_t> steps = list_checkpoints(folder);
  std::optional<std::string> checkpoint;
  if (options.resume_mode == "resume_path") {
    checkpoint = named_checkpoint(options.resume_from_path);
  } else if (options.resume_mode == "auto") {
    checkpoint = newest_checkpoint(folder, steps);
  } else if (!steps.empty()) {
    throw Error(fmt::format("{}: holds checkpoints of an earlier run, up to step {}", options.folder, steps.back()),
                "name another trainer.default_local_dir, remove this one, or use trainer.resume_mode=auto");
  }
  int64_t first_step = 0;
  if (checkpoint) {
    const TrainingState state = read_training_state(*checkpoint);
    check_fits(options, *checkpoint, state);
    first_step = state.global_step;
  }
  if (!options.val_only) {
    check_run_space({options.folder, options.num_parameters, options.total_steps, options.save_freq,
                     options.max_to_keep, first_step});
  }
  return checkpoint;
}

Run::Run(RunOptions options)
    : options_(std::move(options)),
      watchdog_(options_.watchdog_seconds, [](const std::string& text) { fmt::print(stderr, "{}\n", text); }) {
  Activity::of_this_thread().rename("main loop");
  const Doing doing("opening the run folder");
  find_start(options_);  // before anything is written
  io::make_folders(options_.folder);
  lock_ = io::FolderLock(options_.folder);
  io::remove_leftovers(options_.folder);
  if (io::is_folder(checkpoints_folder())) io::remove_leftovers(checkpoints_folder());
  checkpoint_ = find_start(options_);
  if (checkpoint_) {
    state_ = read_training_state(*checkpoint_);
    tell_changes();
  }
  state_.kind = options_.kind;
  state_.form = options_.form;
  state_.numeric_mode = options_.numeric_mode;
  state_.data_hash = options_.data_hash;
  state_.scorer_hash = options_.scorer_hash;
  state_.config = options_.effective_config;
  if (!options_.val_only && state_.global_step >= options_.total_steps) {
    name_latest(checkpoints_folder());
    throw Error(fmt::format("nothing left to do: step {} of {} is saved in {}", state_.global_step,
                            options_.total_steps, checkpoint_.value_or(options_.folder)),
                "raise trainer.total_epochs or trainer.total_training_steps to go on", 3);
  }
  last_step_ = options_.total_steps;
  if (!options_.val_only) open_folder();
  if (!options_.quiet) {
    fmt::print("run: {}; {}\n", options_.summary,
               checkpoint_ ? fmt::format("on from step {} with the weights of {}", state_.global_step, *checkpoint_)
                           : "from the start");
  }
}

// Against the options that the checkpoint was saved with: config.yaml of the folder is the last start's, which may have
// ended before it saved anything.
void Run::set_base(const std::string& base_hash) {
  if (!options_.allow_changes && !state_.base_hash.empty() && state_.base_hash != base_hash) {
    throw Error(fmt::format("{}: its adapters were trained on other weights: hash {}, the model's is {}", *checkpoint_,
                            state_.base_hash, base_hash),
                "name the model that the run began with (with load_format=dummy, its seed too); "
                "trainer.resume_allow_changes=true goes on all the same");
  }
  state_.base_hash = base_hash;
}

void Run::tell_changes() const {
  if (options_.allow_changes || state_.config.empty()) return;
  const io::Json saved = io::parse_yaml(state_.config, io::join_path(*checkpoint_, "training_state/config.yaml")).tree;
  for (const std::string& change : options_.changes_since(saved)) fmt::print(stderr, "note: {}\n", change);
}

void Run::open_folder() {
  io::write_file(io::join_path(options_.folder, "config.yaml"), options_.effective_config);
  const std::string path = io::join_path(options_.folder, "metrics.jsonl");
  // without a checkpoint everything starts anew; the validation line of step 0 with it
  const int64_t last = checkpoint_ ? state_.global_step : -1;
  cut_back_metrics(path, last);
  metrics_ = std::make_unique<io::LineFile>(path);
  loggers_ = std::make_unique<Loggers>(options_.loggers, options_.folder,
                                       checkpoint_ ? std::optional(state_.global_step) : std::nullopt);
  // later checkpoints are of a future that this run leaves: kept, under a name by which no run goes on
  for (const int64_t step : list_checkpoints(checkpoints_folder())) {
    if (step <= last) continue;
    const std::string path_of = checkpoint_path(checkpoints_folder(), step), aside = path_of + ".set_aside";
    if (io::exists(aside)) io::remove_folder(aside);
    io::rename_path(path_of, aside);
    fmt::print(stderr, "note: {} is of the run that is left; it is now {}\n", path_of, aside);
  }
  name_latest(checkpoints_folder());  // those were set aside, or a run ended between its checkpoint and this file
  for (const char* name : {"rollouts", "validation"}) clean_rollouts(folder(name), last);
  saved_step_ = state_.global_step;
}

// The guard against updates that are not finite counts as if the run had never stopped.
void Run::cut_back_metrics(const std::string& path, int64_t last_step) {
  io::cut_back_to(path, [&](std::string_view line) {
    const io::Json metrics = io::parse_json(line, path);
    if (io::JsonAt(metrics, path)["training/global_step"].as_int() > last_step) return false;
    count_nonfinite(nothing_finite([&](const char* name) { return number_or_zero(metrics, name); }));
    return true;
  });
}

std::string Run::checkpoints_folder() const { return io::join_path(options_.folder, "checkpoints"); }

std::string Run::folder(const std::string& name) const { return io::join_path(options_.folder, name); }

void Run::record(Metrics metrics, int64_t global_step) {
  if (metrics_ == nullptr) return;  // validation alone belongs to no run
  metrics.set("training/global_step", static_cast<double>(global_step));
  metrics_->write_line(metrics.json().dump());
  loggers_->log(metrics, global_step);
}

Metrics Run::measured(const Step& step, int64_t global_step) {
  const auto start = std::chrono::steady_clock::now();
  Metrics metrics = step(global_step);
  metrics.set("timing_s/step", seconds_since(start));
  if (save_seconds_) metrics.set("timing_s/save_checkpoint", *save_seconds_);
  save_seconds_.reset();
  metrics.set("perf/time_per_step", metrics.get("timing_s/step"));
  metrics.set("perf/cpu_memory_used_gb", static_cast<double>(resident_bytes()) / (1 << 30));
  metrics.set("perf/throughput", metrics.get("perf/total_num_tokens") / metrics.get("timing_s/step"));
  return metrics;
}

int Run::loop(const Step& step, const Save& save, const StepLine& line) {
  const Interrupt interrupt;
  for (int64_t number = state_.global_step + 1; number <= last_step_; ++number) {
    const Doing doing("step", number);
    Metrics metrics;
    try {
      metrics = measured(step, number);
    } catch (const StoppedByGuard& stop) {
      save_now(number - 1, save);
      throw StoppedByGuard(fmt::format("step {}: {}", number, stop.what()), stop.hint());
    }
    const bool leave = interrupt.requested();
    const bool due = (options_.save_freq > 0 && number % options_.save_freq == 0) || number == due_step_;
    state_.global_step = number;
    record(metrics, number);
    if (!options_.quiet && loggers_->console()) fmt::print("{}\n", line(metrics));
    std::fflush(stdout);
    count_nonfinite(nothing_finite([&](const char* name) { return metrics.has(name) ? metrics.get(name) : 0.0; }));
    stop_when_nothing_is_finite(number, save);
    if (due || leave || is_last(number)) save_now(number, save);
    if (leave && !is_last(number)) {
      fmt::print(stderr, "interrupted: step {} of {} is saved in {}\n", number, options_.total_steps,
                 checkpoint_path(checkpoints_folder(), number));
      return 130;
    }
  }
  return 0;
}

void Run::count_nonfinite(bool nothing_finite) { nonfinite_steps_ = nothing_finite ? nonfinite_steps_ + 1 : 0; }

void Run::stop_when_nothing_is_finite(int64_t global_step, const Save& save) {
  if (options_.max_nonfinite_steps <= 0 || nonfinite_steps_ < options_.max_nonfinite_steps) return;
  std::string saved;
  try {
    save_now(global_step, save);
    saved = fmt::format("the weights, which such updates leave as they are, are saved in {}",
                        checkpoint_path(checkpoints_folder(), global_step));
  } catch (const Error& error) {
    saved = error.what();
  }
  throw StoppedByGuard(fmt::format("step {}: not one update of the last {} steps was finite, as "
                                   "trainer.max_nonfinite_steps = {} allows; {}",
                                   global_step, nonfinite_steps_, options_.max_nonfinite_steps, saved),
                       "go on from an older checkpoint with a lower learning rate");
}

void Run::save_now(int64_t global_step, const Save& save) {
  if (saved_step_ == global_step) return;
  const Doing doing("saving a checkpoint");
  const auto start = std::chrono::steady_clock::now();
  metrics_->sync();  // a checkpoint's metrics are on the disk before it is
  save(state_, checkpoints_folder());
  saved_step_ = global_step;
  try {
    remove_old_checkpoints(checkpoints_folder(), options_.max_to_keep);
  } catch (const Error& error) {  // what was to be saved is saved; the next save tries again
    fmt::print(stderr, "note: an old checkpoint stays: {}\n", error.what());
  }
  save_seconds_ = seconds_since(start);
}

}  // namespace hone
