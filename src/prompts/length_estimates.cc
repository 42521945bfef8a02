#include "prompts/length_estimates.h"

#include <algorithm>

#include "core/error.h"

namespace hone {

LengthEstimates::LengthEstimates(int64_t num_rows, double decay, double default_length)
    : decay_(decay), default_length_(default_length), rows_(static_cast<size_t>(num_rows)) {
  HONE_CHECK(decay >= 0 && decay <= 1 && default_length > 0, "decay {}, default length {}", decay, default_length);
}

void LengthEstimates::observe(uint32_t row, std::span<const AnswerLength> answers) {
  HONE_CHECK(row < rows_.size() && !answers.empty(), "row {} of {}, {} answers", row, rows_.size(), answers.size());
  LengthEstimate& estimate = rows_[row];
  const bool is_first = estimate.times_observed == 0;
  double sum = 0;
  estimate.is_bound = false;
  for (const AnswerLength& answer : answers) {
    const auto length = static_cast<double>(answer.num_ids);
    sum += answer.cut && !is_first ? std::max(length, estimate.num_ids) : length;
    estimate.is_bound = estimate.is_bound || answer.cut;
  }
  const double mean = sum / static_cast<double>(answers.size());
  estimate.num_ids = is_first ? mean : decay_ * estimate.num_ids + (1 - decay_) * mean;
  ++estimate.times_observed;
  any_known_ = true;
}

double LengthEstimates::expected(uint32_t row) const { return is_known(row) ? rows_[row].num_ids : default_length_; }

void LengthEstimates::restore(std::vector<LengthEstimate> rows) {
  HONE_CHECK(rows.size() == rows_.size(), "{} estimates of {} rows", rows.size(), rows_.size());
  rows_ = std::move(rows);
  any_known_ = std::any_of(rows_.begin(), rows_.end(), [](const LengthEstimate& e) { return e.times_observed > 0; });
}

int64_t early_stop_cap(double expected, double factor, int64_t min_tokens, int64_t max_response_length) {
  const double scaled = factor * expected;
  // beyond what an integer holds is beyond every limit
  const int64_t cap =
      scaled < static_cast<double>(max_response_length) ? static_cast<int64_t>(scaled) : max_response_length;
  return std::clamp<int64_t>(std::max(min_tokens, cap), 1, max_response_length);
}

}  // namespace hone
