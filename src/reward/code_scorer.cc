#include "reward/code_scorer.h"

#include <algorithm>

#include "core/error.h"
#include "io/json.h"
#include "reward/outside_reply.h"
#include "workers/python.h"

namespace hone {

namespace {

constexpr int kMostCases = 10;
// A case's limit is its processor time, which a busy machine makes no longer. By the clock it may take so many times as
// long: programs that sleep end too.
constexpr double kClockFactor = 3;
constexpr double kSecondsBeside = 60;  // to start processes on a busy machine

workers::WorkerOptions code_worker(int number) {
  workers::WorkerOptions options = workers::python_worker(fmt::format("the process {} that runs answers", number));
  options.memory_bytes = 0;  // the programs have limits of their own
  options.install_hint =
      "scoring programs needs Python 3 (Debian: apt-get install python3), or its name in HONE_PYTHON";
  return options;
}

// It is written into a program.
bool is_function_name(std::string_view name) {
  const std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  const auto is_letter = [&](char c) { return letters.find(c) != std::string_view::npos; };
  return !name.empty() && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

CodeScorer::CodeScorer(int num_workers, double seconds, int64_t memory_bytes)
    : seconds_(seconds), memory_bytes_(memory_bytes), pool_(num_workers, code_worker) {
  const Answer answer{"", "```python\nprint(1)\n```", ""};
  Prompt prompt;
  prompt.ground_truth = R"({"inputs": [""], "outputs": ["1"]})";
  if (const Score tried = score_one(prompt, answer); tried.value != 1.0f) {
    throw Error(fmt::format("answers cannot be run as programs: {}",
                            tried.value ? "a program that prints 1 fails its test" : tried.reason),
                "scoring programs needs Python 3 (Debian: apt-get install python3), or its name in HONE_PYTHON");
  }
}

Score CodeScorer::score_one(const Prompt& prompt, const Answer& answer) {
  io::Json question = io::Json::object();
  question.set("answer", answer.text);
  question.set("ground_truth", prompt.ground_truth);
  question.set("most_cases", kMostCases);
  question.set("seconds_each", seconds_);
  question.set("clock_seconds_each", kClockFactor * seconds_);
  question.set("memory_bytes", memory_bytes_);
  const double seconds = kMostCases * kClockFactor * seconds_ + kSecondsBeside;
  try {
    auto taken = pool_.take();
    const io::Json reply =
        workers::ask_twice([&] { return workers::ask_python(taken.worker(), "score_code", question, seconds); });
    if (reply.at("scores").as_array().empty()) throw Error("the reply has no score");
    return outside_score(reply.at("scores").as_array().front());
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

std::vector<Score> CodeScorer::score(const Prompt& prompt, uint64_t, std::span<const Answer> answers) {
  std::vector<Score> scores;
  for (const Answer& answer : answers) scores.push_back(score_one(prompt, answer));
  return scores;
}

std::optional<std::string> CodeScorer::find_fault(const Prompt& prompt) {
  const std::string form = "expected {\"inputs\": [...], \"outputs\": [...]} of one length, not empty";
  try {
    const io::Json cases = io::parse_json(prompt.ground_truth, "ground truth");
    const io::Json *inputs = cases.find("inputs"), *outputs = cases.find("outputs");
    const bool fits = inputs != nullptr && outputs != nullptr && inputs->is_array() && outputs->is_array() &&
                      !inputs->as_array().empty() && inputs->as_array().size() == outputs->as_array().size();
    if (!fits) return "ground truth: " + form + ", found " + cases.describe();
    const io::Json* function = cases.find("fn_name");
    if (function == nullptr || function->is_null()) return {};
    if (!function->is_string() || !is_function_name(function->as_string())) {
      return "ground truth: expected a name as fn_name, found " + function->describe();
    }
  } catch (const Error& error) {
    return fmt::format("{}; {}", error.what(), form);
  }
  return {};
}

}  // namespace hone
