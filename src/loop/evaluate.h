// Evaluation: answers to a set of prompts, scored, summed up for each data source.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "loop/metrics.h"
#include "records/trajectory.h"
#include "rollout/engine.h"
#include "text/tokenizer.h"

namespace hone {

struct EvaluationOptions {
  int64_t n = 1;           // samples per prompt
  double temperature = 0;  // 0: greedy
  int64_t max_new_tokens = 512;
  std::vector<int32_t> end_ids;
  uint64_t seed = 1;  // validation has a stream of its own: training draws are not touched
};

struct SourceScores {
  std::string data_source;
  int64_t num_prompts = 0, num_absent = 0;
  double mean = 0;  // mean@n: over prompts, of the mean over present scores of its n samples
  double pass = 0;  // pass@n: share of prompts with a score above 0
};

struct Evaluation {
  std::vector<SourceScores> sources;  // by name
  double response_length = 0;         // mean ids
  double clip_ratio = 0;              // share of answers cut at the limit
  std::vector<Group> groups;          // in prompt order

  double mean() const;  // over all prompts
  // val-core/SOURCE/reward/mean@N and so on.
  void report(Metrics& metrics, int64_t n) const;
};

// `progress(done)` is told the number of finished prompts.
Evaluation evaluate(Engine& engine, const Tokenizer& tokenizer, std::span<const Prompt> prompts,
                    const EvaluationOptions& options, const std::function<void(int64_t)>& progress);

// Text and score of every answer of a group. The text keeps no special tokens.
void score_group(Group& group, const Tokenizer& tokenizer);

}  // namespace hone
