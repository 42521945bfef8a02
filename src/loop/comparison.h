// Comparison of two evaluations of the same prompts with the same seeds, sample by sample, from their dumps: what one
// model has right and the other has not. Differences of one prompt say more than two means beside each other, because
// how hard a prompt is drops out (Miller 2024, "Adding Error Bars to Evals", section 4.2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loop/confidence.h"

namespace hone {

struct ComparedSample {
  uint64_t draw = 0;
  int64_t sample = 0;
  std::string input, ground_truth;
  std::string output_a, output_b;
  double score_a = 0, score_b = 0;
};

struct ComparedSource {
  std::string data_source;
  int64_t num_prompts = 0;        // with a score of both
  int64_t num_absent = 0;         // samples without a score in one or both: left out
  double mean_a = 0, mean_b = 0;  // over prompts
  Interval difference;            // 95 % of mean_b - mean_a, over prompts
  int64_t better = 0, worse = 0;  // prompts on which b has a higher mean, a lower one
  double p_value = 1;             // of the sign test over these
  int64_t samples_won = 0, samples_lost = 0;
  std::vector<ComparedSample> changed;  // samples of another score, in the order of the first file
};

// By data source, sorted. Raises Error when the files do not hold the same samples of the same prompts.
std::vector<ComparedSource> compare_evaluations(const std::string& file_a, const std::string& file_b);

}  // namespace hone
