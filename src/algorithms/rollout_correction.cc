#include "algorithms/rollout_correction.h"

#include <algorithm>
#include <cmath>

#include "core/fixed_math.h"

namespace hone::algorithms {

namespace {

std::vector<float> weights_of(const RatioRow& row, const RolloutCorrection& correction) {
  double sum = 0;
  row.for_tokens([&](size_t t) { sum += double{row.logprobs[t]} - double{row.rollout_logprobs[t]}; });
  const bool by_token = correction.weights == RolloutCorrection::Weights::token;
  const double whole = fixed::exp(RatioRow::held(sum));
  std::vector<float> weights(row.logprobs.size());
  row.for_tokens([&](size_t t) {
    const double weight = by_token ? fixed::exp(row.log_ratio(t)) : whole;
    weights[t] = static_cast<float>(std::min(weight, correction.threshold));
  });
  return weights;
}

// Calls with the weight of every token, or of every row that has one.
template <class Body>
void for_weights(std::span<const RatioRow> rows, const std::vector<std::vector<float>>& weights, bool by_token,
                 const Body& body) {
  for (size_t r = 0; r < rows.size(); ++r) {
    bool first = true;
    rows[r].for_tokens([&](size_t t) {
      if (by_token || first) body(double{weights[r][t]});
      first = false;
    });
  }
}

void normalize(std::span<const RatioRow> rows, const RolloutCorrection& correction, Corrected& result) {
  double sum = 0, count = 0;
  for_weights(rows, result.weights, correction.weights == RolloutCorrection::Weights::token, [&](double weight) {
    sum += weight;
    count += 1;
  });
  const double mean = count == 0 ? 0.0 : sum / count;
  if (mean <= 1e-8) return;
  for (auto& row : result.weights) {
    for (float& weight : row) weight = static_cast<float>(double{weight} / mean);
  }
}

void describe(std::span<const RatioRow> rows, double threshold, const std::vector<std::vector<float>>& weights,
              CorrectionStatistics& result) {
  double count = 0, sum = 0, squares = 0, held_sum = 0, held_squares = 0;
  result.weight_min = HUGE_VAL;
  result.weight_max = -HUGE_VAL;
  for_weights(rows, weights, true, [&](double w) {
    count += 1;
    sum += w;
    squares += w * w;
    result.weight_min = std::min(result.weight_min, w);
    result.weight_max = std::max(result.weight_max, w);
    const double h = std::clamp(w, 1.0 / threshold, threshold);
    held_sum += h;
    held_squares += h * h;
  });
  if (count == 0) {
    result.weight_min = result.weight_max = 1;
    return;
  }
  result.weight_mean = sum / count;
  result.weight_std = std::sqrt(std::max(0.0, squares / count - result.weight_mean * result.weight_mean));
  result.effective_sample_size = held_sum * held_sum / (count * held_squares);
}

}  // namespace

Corrected correct(std::span<const RatioRow> rows, const RolloutCorrection& correction) {
  Corrected result;
  const bool weighs = correction.weights != RolloutCorrection::Weights::none;
  double tokens = 0, rejected_tokens = 0, with_tokens = 0, rejected_rows = 0;
  for (const RatioRow& row : rows) {
    if (weighs) result.weights.push_back(weights_of(row, correction));
    const size_t size = row.logprobs.size();
    std::vector<uint8_t> before(size), mask(size);
    for (size_t t = 0; t < size; ++t) before[t] = mask[t] = row.has(t);
    for (const Rejection& rejection : correction.rejections) reject(rejection, row, mask);
    const auto had = std::count(before.begin(), before.end(), 1), left = std::count(mask.begin(), mask.end(), 1);
    tokens += static_cast<double>(had);
    rejected_tokens += static_cast<double>(had - left);
    with_tokens += had > 0;
    rejected_rows += had > 0 && left == 0;
    if (had == left) mask.assign(row.mask.begin(), row.mask.end());
    result.masks.push_back(std::move(mask));
  }
  result.statistics.rejected_tokens = tokens == 0 ? 0.0 : rejected_tokens / tokens;
  result.statistics.rejected_rows = with_tokens == 0 ? 0.0 : rejected_rows / with_tokens;
  if (!weighs) return result;
  if (correction.batch_normalize) normalize(rows, correction, result);
  describe(rows, correction.threshold, result.weights, result.statistics);
  return result;
}

std::vector<std::pair<std::string_view, double>> named(const CorrectionStatistics& s) {
  return {{"rollout_is_mean", s.weight_mean},
          {"rollout_is_max", s.weight_max},
          {"rollout_is_min", s.weight_min},
          {"rollout_is_std", s.weight_std},
          {"rollout_is_eff_sample_size", s.effective_sample_size},
          {"rollout_rs_masked_fraction", s.rejected_tokens},
          {"rollout_rs_seq_masked_fraction", s.rejected_rows}};
}

}  // namespace hone::algorithms
