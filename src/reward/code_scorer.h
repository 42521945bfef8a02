// CodeScorer: answers that are Python programs, run on the test cases of their row (verl's prime_code): a ground truth
// is {"inputs": [...], "outputs": [...]}, texts for the input and the expected output, or with "fn_name" the arguments
// of a function and its value. The score is the share of the first 10 cases that are passed; `acc` is 1 when all are.
// Each case is a process in a session and a folder of its own, with limits of time, memory, file size and open files;
// random numbers and the order of sets are the same for every case.
// That is no sandbox: what the model writes runs with the user's rights. Where the process that runs the cases dies
// they are run once more by another.
#pragma once

#include "reward/outside_scorer.h"
#include "workers/worker_pool.h"

namespace hone {

inline constexpr std::string_view kCodeScorer = "prime_code";

class CodeScorer : public OutsideScorer {
 public:
  // `seconds` of processor time for a case. Raises Error where Python is missing.
  explicit CodeScorer(int num_workers, double seconds = 10, int64_t memory_bytes = int64_t{1} << 30);

  std::vector<Score> score(const Prompt& prompt, uint64_t draw, std::span<const Answer> answers) override;
  int num_threads() const override { return pool_.size(); }
  std::optional<std::string> find_fault(const Prompt& prompt) override;

 private:
  Score score_one(const Prompt& prompt, const Answer& answer);

  double seconds_;
  int64_t memory_bytes_;  // of a case
  workers::WorkerPool pool_;
};

}  // namespace hone
