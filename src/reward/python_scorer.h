// PythonScorer: the user's reward function, a function of a Python file, in processes of its own. Its signature is one
// of
//   f(data_source, solution_str, ground_truth, extra_info, **reward_kwargs)          verl's
//   f(data_sources, solution_strs, ground_truths, extra_infos, **reward_kwargs)      verl's for batches
//   f(prompts, completions, **columns_and_reward_kwargs)                             TRL's
// by the names of its parameters; `async def` is awaited. The first gives a number, a dict with `score` (what else it
// holds is reported), or None for no score; the others give a list of these, for the answers to one prompt.
//
// A process that dies is started anew and asked once more, so that one that was killed from outside changes nothing;
// one that gives no answer in time is ended. When a list function fails as a whole its answers are given to it one by
// one, so that the score of the one at fault alone is absent.
#pragma once

#include <atomic>
#include <string>

#include "io/json.h"
#include "reward/outside_scorer.h"
#include "workers/output_log.h"
#include "workers/worker_pool.h"

namespace hone {

struct PythonScorerOptions {
  std::string path, name = "compute_score";
  io::Json kwargs = io::Json::object();
  std::string prompt_key = "prompt";  // of a row
  int num_workers = 1;
  double seconds = 60;       // for an answer
  int64_t memory_bytes = 0;  // of a process; 0: no limit
  uint64_t seed = 1;         // of Python's random numbers, together with draw and sample
};

class PythonScorer : public OutsideScorer {
 public:
  // Starts one process and loads the function there. Raises Error with the end of Python's traceback when there is no
  // such function, and where Python is missing.
  explicit PythonScorer(PythonScorerOptions options);

  std::vector<Score> score(const Prompt& prompt, uint64_t draw, std::span<const Answer> answers) override;
  bool takes_groups() const override { return takes_groups_; }
  int num_threads() const override { return pool_.size(); }
  // The source of the file, the function's name and its kwargs. Of what the file imports it knows nothing.
  std::string mark() const override;
  // Whether the function can be called with the fields of the row; looks at the first row alone.
  std::optional<std::string> find_fault(const Prompt& prompt) override;
  void keep_output(const std::string& path) override { log_.open(path); }

 private:
  io::Json load(workers::Worker& worker) const;
  // The reply to a request for so many answers.
  io::Json ask(io::Json question, size_t num_answers);
  std::vector<Score> score_together(const Prompt& prompt, uint64_t draw, std::span<const Answer> answers);

  PythonScorerOptions options_;
  std::string source_;  // of the file: a process that is started later runs the same
  workers::OutputLog log_;
  workers::WorkerPool pool_;
  std::atomic<int64_t> next_id_ = 0;
  bool takes_groups_ = false, needs_row_ = false;
};

}  // namespace hone
