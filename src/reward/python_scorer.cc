#include "reward/python_scorer.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "io/file.h"
#include "reward/outside_reply.h"
#include "workers/python.h"

namespace hone {

namespace {

constexpr double kLoadSeconds = 300;  // imports of large packages

// What a dump holds of an error; a process's last words are in the log.
std::string in_short(const std::string& text) {
  return text.substr(0, std::min(text.find("; its error output:"), text.find('\n')));
}

workers::WorkerOptions worker_options(const PythonScorerOptions& options, int number, workers::OutputLog& log) {
  const std::string file = std::filesystem::path(options.path).filename().string();
  workers::WorkerOptions worker =
      workers::python_worker(fmt::format("the reward function {} of {}", options.name, file));
  worker.environment = {"PYTHONHASHSEED=0"};  // the order of sets, in every process
  worker.memory_bytes = options.memory_bytes;
  worker.install_hint =
      "a reward function needs Python 3 (Debian: apt-get install python3); HONE_PYTHON names another interpreter. "
      "Everything else works without it";
  worker.on_output = [&log, number](std::string_view bytes) { log.add(number, bytes); };
  return worker;
}

}  // namespace

PythonScorer::PythonScorer(PythonScorerOptions options)
    : options_(std::move(options)),
      source_(io::read_file(options_.path)),
      log_(options_.num_workers),
      pool_(options_.num_workers, [this](int i) { return worker_options(options_, i, log_); }) {
  auto taken = pool_.take();
  const io::Json reply = load(taken.worker());
  const std::string& form = reply.at("form").as_string();
  takes_groups_ = form != "one" || reply.at("is_async").as_bool();
  needs_row_ = form == "completions";
}

io::Json PythonScorer::load(workers::Worker& worker) const {
  io::Json question = io::Json::object();
  question.set("path", options_.path);
  question.set("name", options_.name);
  question.set("kwargs", options_.kwargs);
  question.set("source", source_);
  return workers::ask_python(worker, "load_reward", std::move(question), kLoadSeconds);
}

std::string PythonScorer::mark() const { return io::Json::array({source_, options_.name, options_.kwargs}).dump(); }

std::optional<std::string> PythonScorer::find_fault(const Prompt& prompt) {
  if (!std::exchange(needs_row_, false)) return {};
  io::Json question = io::Json::object();
  question.set("row", prompt.row.empty() ? io::Json() : io::Json(prompt.row));
  question.set("prompt_key", options_.prompt_key);
  try {
    auto taken = pool_.take();
    workers::ask_python(taken.worker(), "check_row", std::move(question), options_.seconds);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

io::Json PythonScorer::ask(io::Json question, size_t num_answers) {
  const double seconds = options_.seconds * static_cast<double>(num_answers);
  const int64_t id = next_id_++;
  question.set("id", id);
  auto taken = pool_.take();
  io::Json reply = workers::ask_twice([&] {
    io::Json first = workers::ask_python(taken.worker(), "score", question, seconds);
    if (first.find("not_loaded") == nullptr) return first;
    load(taken.worker());
    return workers::ask_python(taken.worker(), "score", question, seconds);
  });
  if (reply.at("id").as_int() != id) throw Error("the reply belongs to another request");
  return reply;
}

std::vector<Score> PythonScorer::score_together(const Prompt& prompt, uint64_t draw, std::span<const Answer> answers) {
  io::Json question = io::Json::object(), texts = io::Json::array(), samples = io::Json::array();
  io::Json ends = io::Json::array(), lengths = io::Json::array();
  for (const Answer& answer : answers) {
    texts.push_back(answer.text);
    samples.push_back(int64_t{answer.sample});
    ends.push_back(name(answer.finish));
    lengths.push_back(answer.num_ids ? io::Json(*answer.num_ids) : io::Json());
  }
  question.set("finish_reasons", std::move(ends));
  question.set("response_lengths", std::move(lengths));
  question.set("answers", std::move(texts));
  question.set("samples", std::move(samples));
  question.set("data_source", prompt.data_source);
  question.set("ground_truth", json_truth(prompt).dump());
  question.set("row", prompt.row.empty() ? io::Json() : io::Json(prompt.row));
  question.set("prompt", prompt.text);
  question.set("prompt_key", options_.prompt_key);
  question.set("place", fmt::format("{}:{}", prompt.file, prompt.line));
  question.set("seed", fmt::format("{} {}", options_.seed, draw));
  question.set("seconds_each", options_.seconds);
  try {
    const io::Json reply = ask(std::move(question), answers.size());
    if (const io::Json* scores = reply.find("scores")) {
      if (scores->as_array().size() != answers.size()) throw Error("the reply has another number of scores");
      std::vector<Score> result;
      for (const io::Json& score : scores->as_array()) result.push_back(outside_score(score));
      return result;
    }
    if (answers.size() == 1) return {outside_score(reply.at("failed"))};
  } catch (const Error& error) {
    if (answers.size() == 1) return {{std::nullopt, in_short(error.what())}};
  }
  std::vector<Score> result;
  for (const Answer& answer : answers) result.push_back(score_together(prompt, draw, {&answer, 1}).front());
  return result;
}

std::vector<Score> PythonScorer::score(const Prompt& prompt, uint64_t draw, std::span<const Answer> answers) {
  if (takes_groups_ && !answers.empty()) return score_together(prompt, draw, answers);
  std::vector<Score> result;
  for (const Answer& answer : answers) result.push_back(score_together(prompt, draw, {&answer, 1}).front());
  return result;
}

}  // namespace hone
