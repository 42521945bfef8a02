#include "algorithms/rollout_correction.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/fixed_math.h"

namespace hone::algorithms {

namespace {

using Scope = Rejection::Scope;
using Statistic = Rejection::Statistic;

double held(double x) { return std::clamp(x, -20.0, 20.0); }

double log_ratio(const RatioRow& row, size_t token) {
  return held(double{row.logprobs[token]} - double{row.rollout_logprobs[token]});
}

template <class Body>
void for_kept(const RatioRow& row, const Body& body) {
  for (size_t t = 0; t < row.logprobs.size(); ++t) {
    if (row.has(t)) body(t);
  }
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(by);
    std::string_view part = text.substr(0, at);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.push_back(part);
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<double> positive(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value <= 0) {
    return std::nullopt;
  }
  return value;
}

std::optional<Rejection> criterion(std::string_view name) {
  constexpr std::pair<std::string_view, Scope> kScopes[] = {{"token_", Scope::token},
                                                            {"seq_sum_", Scope::seq_sum},
                                                            {"seq_mean_", Scope::seq_mean},
                                                            {"seq_max_", Scope::seq_max}};
  for (const auto& [prefix, scope] : kScopes) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    if (rest == "k1" && scope != Scope::seq_max) return Rejection{scope, Statistic::k1};
    if (rest == "k2") return Rejection{scope, Statistic::k2};
    if (rest == "k3") return Rejection{scope, Statistic::k3};
  }
  return std::nullopt;
}

// Puts the bounds in; false where the text is no threshold of such a criterion.
bool set_bounds(Rejection& rejection, std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '_');
  const std::optional<double> first = positive(parts.front()), last = positive(parts.back());
  if (!first || !last || parts.size() > 2) return false;
  if (rejection.statistic != Statistic::k1) {
    rejection.low = -HUGE_VAL;
    rejection.high = *first;
    return parts.size() == 1;
  }
  const double low = parts.size() == 2 ? *first : 1.0 / *last;
  if (!(low <= 1.0 && *last >= 1.0)) return false;  // what is on policy is never rejected
  rejection.low = fixed::log(low);
  rejection.high = fixed::log(*last);
  return true;
}

double statistic_of(Statistic statistic, double lr) {
  if (statistic == Statistic::k1) return -lr;
  if (statistic == Statistic::k2) return 0.5 * lr * lr;
  return fixed::exp(lr) - 1.0 - lr;
}

// Takes out of `mask` what the criterion rejects.
void reject(const Rejection& rejection, const RatioRow& row, std::vector<uint8_t>& mask) {
  const auto fails = [&](double value) { return !(value >= rejection.low && value <= rejection.high); };
  double sum = 0, largest = -HUGE_VAL, count = 0;
  for_kept(row, [&](size_t t) {
    const double value = statistic_of(rejection.statistic, log_ratio(row, t));
    if (rejection.scope == Scope::token && fails(value)) mask[t] = 0;
    sum += value;
    largest = std::max(largest, value);
    count += 1;
  });
  if (rejection.scope == Scope::token || count == 0) return;
  const double value = rejection.scope == Scope::seq_sum    ? sum
                       : rejection.scope == Scope::seq_mean ? sum / count
                                                            : largest;
  if (fails(value)) std::fill(mask.begin(), mask.end(), uint8_t{0});
}

std::vector<float> weights_of(const RatioRow& row, const RolloutCorrection& correction) {
  double sum = 0;
  for_kept(row, [&](size_t t) { sum += double{row.logprobs[t]} - double{row.rollout_logprobs[t]}; });
  const bool by_token = correction.weights == RolloutCorrection::Weights::token;
  const double whole = fixed::exp(held(sum));
  std::vector<float> weights(row.logprobs.size());
  for_kept(row, [&](size_t t) {
    const double weight = by_token ? fixed::exp(log_ratio(row, t)) : whole;
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
    for_kept(rows[r], [&](size_t t) {
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

std::string parse_rejections(std::string_view criteria, std::string_view thresholds, std::vector<Rejection>& out) {
  out.clear();
  const std::vector<std::string_view> names = split(criteria, ','), bounds = split(thresholds, ',');
  if (bounds.size() != 1 && bounds.size() != names.size()) {
    return fmt::format("expected one threshold or {}, found {}", names.size(), bounds.size());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    std::optional<Rejection> rejection = criterion(names[i]);
    if (!rejection) {
      return fmt::format(
          "expected token_, seq_sum_ or seq_mean_ and k1, k2 or k3, or seq_max_ and k2 or k3, found \"{}\"", names[i]);
    }
    const std::string_view bound = bounds.size() == 1 ? bounds[0] : bounds[i];
    if (!set_bounds(*rejection, bound)) {
      return fmt::format("{}: expected {}, found \"{}\"", names[i],
                         rejection->statistic == Statistic::k1
                             ? "low_high with 0 < low <= 1 <= high, or one number of at least 1"
                             : "a number above 0",
                         bound);
    }
    out.push_back(*rejection);
  }
  return "";
}

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

OffPolicy off_policy(std::span<const RatioRow> rows) {
  OffPolicy sum;
  double tokens = 0, with_tokens = 0;
  sum.log_ppl_diff_max = -HUGE_VAL;
  sum.log_ppl_diff_min = HUGE_VAL;
  for (const RatioRow& row : rows) {
    double count = 0, training = 0, rollout = 0;
    for_kept(row, [&](size_t t) {
      const double lr = log_ratio(row, t);
      count += 1;
      training += double{row.logprobs[t]};
      rollout += double{row.rollout_logprobs[t]};
      sum.kl += double{row.rollout_logprobs[t]} - double{row.logprobs[t]};
      sum.k3_kl += fixed::exp(lr) - lr - 1.0;
      sum.chi2_token += fixed::exp(2.0 * lr) - 1.0;
    });
    if (count == 0) continue;
    tokens += count;
    with_tokens += 1;
    const double difference = (rollout - training) / count;
    sum.training_log_ppl -= training / count;
    sum.rollout_log_ppl -= rollout / count;
    sum.training_ppl += fixed::exp(-training / count);
    sum.rollout_ppl += fixed::exp(-rollout / count);
    sum.log_ppl_diff += difference;
    sum.log_ppl_abs_diff += std::abs(difference);
    sum.log_ppl_diff_max = std::max(sum.log_ppl_diff_max, difference);
    sum.log_ppl_diff_min = std::min(sum.log_ppl_diff_min, difference);
    sum.ppl_ratio += fixed::exp(difference);
    sum.chi2_seq += fixed::exp(2.0 * held(training - rollout)) - 1.0;
  }
  if (with_tokens == 0) return {};
  for (double* mean : {&sum.kl, &sum.k3_kl, &sum.chi2_token}) *mean /= tokens;
  for (double* mean : {&sum.training_ppl, &sum.training_log_ppl, &sum.rollout_ppl, &sum.rollout_log_ppl,
                       &sum.log_ppl_diff, &sum.log_ppl_abs_diff, &sum.ppl_ratio, &sum.chi2_seq}) {
    *mean /= with_tokens;
  }
  return sum;
}

}  // namespace hone::algorithms
