// Correction of answers that another policy drew than the one that is trained: importance weights and rejection
// (algorithm.rollout_correction). lr = logprob - rollout_logprob of a token, held in +-20. Where the two log-probs are
// the same bits, every weight is exactly 1 and nothing is rejected.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/ratio_row.h"
#include "algorithms/rejection.h"

namespace hone::algorithms {

struct RolloutCorrection {
  enum class Weights {
    none,
    token,    // exp(lr)
    sequence  // exp(sum of lr over the answer, held in +-20), the same for all its tokens
  } weights = Weights::none;
  double threshold = 2.0;        // weights are at most this
  bool batch_normalize = false;  // then divided by their mean: over tokens, or over answers
  std::vector<Rejection> rejections;

  bool is_on() const { return weights != Weights::none || !rejections.empty(); }
};

// Over the tokens, or rows, that the mask had.
struct CorrectionStatistics {
  double weight_mean = 1, weight_min = 1, weight_max = 1, weight_std = 0;
  double effective_sample_size = 1;  // 1 / mean((w / mean w)^2), w held in 1/threshold .. threshold: a share
  double rejected_tokens = 0, rejected_rows = 0;  // shares; a row: none of its tokens is left
};

// Its numbers under verl's names.
std::vector<std::pair<std::string_view, double>> named(const CorrectionStatistics& statistics);

struct Corrected {
  std::vector<std::vector<float>> weights;  // [row][token]; without weights empty
  std::vector<std::vector<uint8_t>> masks;  // [row][token]; where nothing is rejected as it was (empty: all)
  CorrectionStatistics statistics;
};
Corrected correct(std::span<const RatioRow> rows, const RolloutCorrection& correction);

}  // namespace hone::algorithms
