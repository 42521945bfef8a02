#include "algorithms/advantage.h"

#include <algorithm>
#include <cmath>

namespace hone::algorithms {

GroupAdvantages grpo_advantages(std::span<const std::optional<float>> scores, bool norm_by_std) {
  GroupAdvantages result;
  result.advantages.assign(scores.size(), 0.0f);
  std::vector<double> present;
  for (const auto& score : scores) {
    if (score.has_value()) present.push_back(static_cast<double>(*score));
  }
  result.num_absent = static_cast<int>(scores.size() - present.size());
  if (present.empty()) return result;
  const auto [low, high] = std::minmax_element(present.begin(), present.end());
  result.flat = *low == *high;
  if (result.flat) return result;

  const auto count = static_cast<double>(present.size());
  double sum = 0, squares = 0;
  for (double score : present) sum += score;
  const double mean = sum / count;
  for (double score : present) squares += (score - mean) * (score - mean);
  const double scale = norm_by_std ? 1.0 / (std::sqrt(squares / (count - 1)) + 1e-6) : 1.0;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i].has_value()) result.advantages[i] = static_cast<float>((double{*scores[i]} - mean) * scale);
  }
  return result;
}

}  // namespace hone::algorithms
