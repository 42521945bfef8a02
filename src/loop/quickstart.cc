#include "loop/quickstart.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <sstream>

#include "io/atomic_file.h"
#include "io/file.h"
#include "io/json.h"
#include "loop/checkpoint.h"
#include "loop/grpo.h"
#include "loop/inference.h"
#include "loop/progress.h"
#include "loop/sft.h"
#include "prompts/arithmetic_task.h"
#include "prompts/prompt_set.h"

namespace hone {

namespace {

// Stops of SFT: every so many steps from the first on, at the first of two accuracies.
constexpr int64_t kFirstStop = 160, kStopEvery = 10, kLastStop = 400;
constexpr double kMiddlingSampled = 0.33, kMiddlingGreedy = 0.45;
constexpr const char* kValidation = "val-core/hone/arithmetic/reward/mean@1";

struct Accuracy {
  double greedy = 0, sampled = 0;     // on the held-out sums
  std::vector<std::string> examples;  // the first three sampled answers
};

struct TrainedBySft {
  std::string model;
  double seconds = 0;  // of training, without the evaluations that decide when to stop
  int64_t steps = 0;
  Accuracy accuracy;
};

struct TrainedByRl {
  std::string model;
  double seconds = 0;
  int64_t tokens = 0;  // generated
  double greedy = 0;   // mean of the last three evaluations
  int exit_code = 0;
};

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Quickstart {
 public:
  explicit Quickstart(const QuickstartOptions& options) : options_(options) {}
  int run();

 private:
  std::string path(const std::string& name) const { return io::join_path(options_.out, name); }
  std::string recipe(const std::string& name) const { return io::join_path(options_.recipes, name); }
  std::vector<std::string> common() const {
    return {fmt::format("trainer.seed={}", options_.seed), fmt::format("trainer.num_threads={}", options_.threads)};
  }
  void make_data();
  TrainedBySft sft(const std::string& folder, const std::string& model, int64_t steps);
  TrainedBySft sft_to_middling();
  TrainedByRl rl(const std::string& folder, const std::string& model, std::vector<std::string> settings);
  Accuracy measure(const std::string& model);
  io::Json control(const TrainedBySft& start, const TrainedByRl& trained);
  void show(const TrainedBySft& start, const TrainedByRl& trained, const Accuracy& after) const;

  QuickstartOptions options_;
};

// An interrupted part ends the whole; what it saved stays.
class Stopped : public Error {
 public:
  explicit Stopped(int exit_code) : Error("the quickstart was interrupted", "run it again to start anew", exit_code) {}
};

void Quickstart::make_data() {
  constexpr const char* kMade[] = {"data", "init", "sft", "grpo", "grpo_shuffled", "sft_more", "summary.json"};
  for (const char* name : kMade) {
    if (io::exists(path(name)) && !io::exists(path("init/config.json"))) {
      throw Error(fmt::format("{}: is not of an earlier quickstart and would be overwritten", path(name)),
                  "name another --out");
    }
  }
  for (const char* name : kMade) std::filesystem::remove_all(path(name));
  ArithmeticOptions task;
  task.seed = options_.seed;
  io::make_folders(path("data"));
  io::make_folders(path("init"));
  const Task made = make_arithmetic(task);
  write_task(path("data"), made);
  write_arithmetic_tokenizer(path("init"));
  io::write_file(path("init/config.json"), io::read_file(recipe("config.json")));
  fmt::print("data: {} worked sums for SFT, {} sums for RL, {} held-out sums (no operands in common)\n",
             made.sft.size(), made.train.size(), made.val.size());
}

// Trains on to `steps` steps in all: a run that is there goes on where it stands.
TrainedBySft Quickstart::sft(const std::string& folder, const std::string& model, int64_t steps) {
  std::vector<std::string> settings = common();
  if (!model.empty()) {
    settings.push_back("model.partial_pretrain=" + model);
    settings.push_back("model.init_config=''");
  } else {
    settings.push_back("model.init_config=" + path("init"));
  }
  settings.push_back("data.train_files=" + path("data/sft.jsonl"));
  settings.push_back("trainer.default_local_dir=" + path(folder));
  settings.push_back(fmt::format("trainer.total_training_steps={}", steps));
  std::vector<std::string> notes;
  const SftRecipe options = load_sft_recipe(recipe("sft.yaml"), settings, notes);
  TrainedBySft trained;
  int exit_code = 0;
  trained.seconds = seconds_of([&] { exit_code = train_sft(options, {}); });
  if (exit_code != 0) throw Stopped(exit_code);
  trained.steps = steps;
  trained.model = checkpoint_path(path(folder + "/checkpoints"), steps);
  return trained;
}

// SFT to middling accuracy, which leaves GRPO something to learn from and to learn. Accuracy rises steeply at some step
// that differs from seed to seed, so it decides when to stop, not the number of steps.
TrainedBySft Quickstart::sft_to_middling() {
  TrainedBySft trained;
  double seconds = 0;
  for (int64_t steps = kFirstStop; steps <= kLastStop; steps += kStopEvery) {
    trained = sft("sft", "", steps);
    seconds += trained.seconds;
    trained.accuracy = measure(trained.model);
    fmt::print("held-out accuracy after {} steps: greedy {:.1f} %, sampled {:.1f} %\n", steps,
               100 * trained.accuracy.greedy, 100 * trained.accuracy.sampled);
    if (trained.accuracy.sampled >= kMiddlingSampled || trained.accuracy.greedy >= kMiddlingGreedy) break;
  }
  trained.seconds = seconds;
  return trained;
}

TrainedByRl Quickstart::rl(const std::string& folder, const std::string& model, std::vector<std::string> settings) {
  for (const std::string& setting : common()) settings.push_back(setting);
  settings.push_back("actor_rollout_ref.model.path=" + model);
  settings.push_back("data.train_files=" + path("data/train.jsonl"));
  settings.push_back("data.val_files=" + path("data/val.jsonl"));
  settings.push_back("trainer.default_local_dir=" + path(folder));
  std::vector<std::string> notes;
  const Recipe options = load_recipe(recipe("grpo.yaml"), settings, notes);
  TrainedByRl trained;
  int exit_code = 0;
  trained.seconds = seconds_of([&] { exit_code = train_grpo(options, {}); });
  if (exit_code != 0) throw Stopped(exit_code);
  trained.model =
      checkpoint_path(path(folder + "/checkpoints"), list_checkpoints(path(folder + "/checkpoints")).back());
  std::vector<double> evaluations;
  std::istringstream lines(io::read_file(path(folder + "/metrics.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    const io::Json metrics = io::parse_json(line, "metrics.jsonl");
    if (const io::Json* value = metrics.find(kValidation)) evaluations.push_back(value->as_double());
    if (const io::Json* length = metrics.find("response_length/mean")) {
      const auto answers = static_cast<double>(options.data.train_batch_size * options.rollout.n);
      trained.tokens += std::llround(length->as_double() * answers);
    }
  }
  const size_t last = std::min<size_t>(3, evaluations.size());
  for (size_t i = evaluations.size() - last; i < evaluations.size(); ++i) {
    trained.greedy += evaluations[i] / static_cast<double>(last);
  }
  return trained;
}

Accuracy Quickstart::measure(const std::string& model) {
  io::Faults faults;
  PromptSetOptions set;
  set.files = {path("data/val.jsonl")};
  Tokenizer tokenizer = Tokenizer::load(model);
  const std::vector<Prompt> prompts = load_prompts(set, tokenizer, faults).prompts;
  faults.raise_if_any("held-out data");
  Inference inference(model, std::move(tokenizer), "float32", options_.threads, 256, prompts, 24);
  EvaluationOptions options;
  options.max_new_tokens = 24;
  options.end_ids = inference.end_ids();
  options.seed = options_.seed;
  Accuracy accuracy;
  accuracy.greedy = evaluate(inference.engine(), inference.tokenizer(), prompts, options, nullptr).mean();
  options.temperature = 1.0;
  Evaluation sampled = evaluate(inference.engine(), inference.tokenizer(), prompts, options, nullptr);
  accuracy.sampled = sampled.mean();
  for (size_t i = 0; i < 3; ++i) {
    const Group& group = sampled.groups[i];
    const Trajectory& t = group.trajectories.front();
    accuracy.examples.push_back(fmt::format("{}{}   {}", group.drawn.prompt->text, t.response_text,
                                            t.score.value.value_or(0.0f) > 0 ? "right" : "wrong"));
  }
  return accuracy;
}

io::Json Quickstart::control(const TrainedBySft& start, const TrainedByRl& trained) {
  fmt::print("\n== control: the same RL with shuffled rewards\n");
  const TrainedByRl shuffled = rl("grpo_shuffled", start.model, {"reward.shuffle=true"});
  const Accuracy after_shuffled = measure(shuffled.model);
  fmt::print("\n== control: SFT for the time of the RL\n");
  const double step_seconds = start.seconds / static_cast<double>(start.steps);
  const auto steps = std::max<int64_t>(1, std::llround(trained.seconds / step_seconds));
  const TrainedBySft more = sft("sft_more", start.model, steps);
  const Accuracy after_more = measure(more.model);
  io::Json result = io::Json::object();
  result.set("shuffled_greedy_after_rl", shuffled.greedy);
  result.set("shuffled_sampled_after_rl", after_shuffled.sampled);
  result.set("more_sft_greedy", after_more.greedy);
  result.set("more_sft_sampled", after_more.sampled);
  result.set("more_sft_seconds", more.seconds);
  result.set("more_sft_steps", more.steps);
  return result;
}

void Quickstart::show(const TrainedBySft& start, const TrainedByRl& trained, const Accuracy& after) const {
  fmt::print("\n== held-out accuracy (sums the model has never seen)\n");
  fmt::print("                 greedy   sampled\n");
  fmt::print("  before RL     {:6.1f} %  {:6.1f} %   after {} steps of SFT in {}\n", 100 * start.accuracy.greedy,
             100 * start.accuracy.sampled, start.steps, format_seconds(start.seconds));
  fmt::print("  after RL      {:6.1f} %  {:6.1f} %   {} generated tokens in {}\n", 100 * trained.greedy,
             100 * after.sampled, trained.tokens, format_seconds(trained.seconds));
  fmt::print("\n== three answers now (the digits from the right with their carries, then the result)\n");
  for (const std::string& example : after.examples) fmt::print("  {}\n", example);
  fmt::print("\n== where it lies\n");
  const auto place = [](const std::string& where, const char* what) { fmt::print("  {:<48} {}\n", where, what); };
  place(trained.model, "the model, a Hugging Face folder");
  place(path("grpo/metrics.jsonl"), "every step's metrics; `hone explain NAME` tells of one");
  place(path("grpo/rollouts/"), "every sample with ids, log-probs and score");
  place(path("summary.json"), "this result");
  fmt::print("\n== what to type next\n");
  fmt::print("  build/release/hone generate --model {} \"123+456=\"\n", trained.model);
  fmt::print("  build/release/hone train {} trainer.total_training_steps=300   # goes on\n", path("grpo/config.yaml"));
  fmt::print("  build/release/hone train --help-config\n");
}

int Quickstart::run() {
  make_data();
  fmt::print("\n== SFT from random weights, to middling accuracy\n");
  const TrainedBySft start = sft_to_middling();
  fmt::print("\n== GRPO: groups of answers, rewarded by their result alone\n");
  const TrainedByRl trained = rl("grpo", start.model, {});
  const Accuracy after = measure(trained.model);

  io::Json summary = io::Json::object();
  summary.set("seed", options_.seed);
  summary.set("greedy_before_rl", start.accuracy.greedy);
  summary.set("greedy_after_rl", trained.greedy);
  summary.set("sampled_before_rl", start.accuracy.sampled);
  summary.set("sampled_after_rl", after.sampled);
  summary.set("sft_seconds", start.seconds);
  summary.set("rl_seconds", trained.seconds);
  summary.set("rl_tokens", trained.tokens);
  if (options_.control) summary.set("control", control(start, trained));
  io::write_json(path("summary.json"), summary);
  show(start, trained, after);
  fmt::print("\n{}\n", summary.dump());
  return 0;
}

}  // namespace

int run_quickstart(const QuickstartOptions& options) { return Quickstart(options).run(); }

}  // namespace hone
