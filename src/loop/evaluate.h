// Evaluation: answers to a set of prompts, scored, summed up for each data source.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/task_queue.h"
#include "loop/confidence.h"
#include "loop/evaluation_file.h"
#include "loop/metrics.h"
#include "loop/sample_statistics.h"
#include "records/trajectory.h"
#include "reward/scorer.h"
#include "rollout/engine.h"
#include "text/tokenizer.h"

namespace hone {

struct EvaluationOptions {
  int64_t n = 1;           // samples per prompt
  double temperature = 0;  // 0: greedy
  kernels::Filter filter;  // top-k and the like
  int64_t max_new_tokens = 512;
  std::vector<int32_t> end_ids;
  bool score_beside = true;  // on a thread of its own, while other answers are drawn; else after all of them
  ScoringRules scoring;
  uint64_t seed = 1;  // validation has a stream of its own: training draws are not touched
};

// `reward`, or another number that a scorer reports (one that it calls `reward` is `extra_reward`): means over prompts
// of sample_statistics.h.
struct VariableScores {
  std::string name;
  NamedNumbers numbers;
};

struct SourceScores {
  std::string data_source;
  int64_t num_prompts = 0, num_scored = 0;  // with at least one score: the others are left out of every mean
  int64_t num_absent = 0;                   // samples without a score
  double mean = 0;                          // mean@n of the reward
  Interval mean_interval;                   // 95 %, over prompts
  // pass@k for k = 1, 2, 4, ... and n: the chance of a score above 0 among k samples, without bias (confidence.h). Of a
  // prompt with fewer than k scores it is the share of all it has.
  std::vector<std::pair<int64_t, double>> pass;
  double response_length = 0;             // mean ids
  double clip_ratio = 0;                  // share of answers cut at the limit
  std::vector<VariableScores> variables;  // the reward first
};

struct Evaluation {
  std::vector<SourceScores> sources;  // by name
  std::vector<Group> groups;          // in prompt order

  double mean() const;  // over all scored prompts
  // verl's names: val-core/SOURCE/VARIABLE/mean@N, best@N, maj@N of `acc` where scorers report it, else of the reward;
  // val-aux/SOURCE/... for the rest.
  void report(Metrics& metrics, int64_t n) const;
};

// The groups of an evaluation summed up; every group has n samples.
Evaluation summarise(std::vector<Group> groups, int64_t n);

// `progress(done)` is told the number of finished prompts. With a file, whose prompts these are, answers that it holds
// are not drawn again, and those drawn are added to it.
Evaluation evaluate(Engine& engine, const Tokenizer& tokenizer, std::span<const Prompt> prompts,
                    const EvaluationOptions& options, const std::function<void(int64_t)>& progress,
                    EvaluationFile* file = nullptr);

// Text and score of every answer of a group, by tasks of the queue. The text keeps no special tokens. Until its wait()
// the answers stay where they are, and their text and score are its own; the group may be moved. The queue ends before
// the answers do.
void score_group_later(TaskQueue& queue, Group& group, const Tokenizer& tokenizer, const ScoringRules& rules = {});

}  // namespace hone
