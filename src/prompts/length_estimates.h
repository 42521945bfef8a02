// LengthEstimates: how long the answers to each row of the data are expected to be: a moving average over the epochs
// that have answered it.
// An answer that was cut (early stop) says only that it would have been at least as long. It counts with its length or
// with the estimate so far, whichever is larger, so that a cap never lowers the estimate that the next cap is made
// from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hone {

struct AnswerLength {
  int64_t num_ids = 0;
  bool cut = false;  // the answer would have gone on
};

struct LengthEstimate {
  double num_ids = 0;          // expected of an answer
  int64_t times_observed = 0;  // 0: nothing is known
  bool is_bound = false;       // of the answers seen last some were cut: the length is at least this
  bool operator==(const LengthEstimate&) const = default;
};

class LengthEstimates {
 public:
  // decay: weight of the old estimate, in [0, 1]; default_length: expected where nothing is known.
  LengthEstimates(int64_t num_rows, double decay, double default_length);

  // All answers to a row that ended together, at least one. The first observation is the estimate; later ones are
  // mixed in: decay * estimate + (1 - decay) * mean.
  void observe(uint32_t row, std::span<const AnswerLength> answers);

  double expected(uint32_t row) const;
  bool is_known(uint32_t row) const { return rows_[row].times_observed > 0; }
  bool is_any_known() const { return any_known_; }
  const std::vector<LengthEstimate>& rows() const { return rows_; }
  // In place of all; as many as there are rows.
  void restore(std::vector<LengthEstimate> rows);

 private:
  double decay_, default_length_;
  std::vector<LengthEstimate> rows_;
  bool any_known_ = false;
};

// Early stop: most ids of an answer where `expected` are expected on the mean over the batch.
//   min(max_response_length, max(min_tokens, factor * expected)), at least 1
int64_t early_stop_cap(double expected, double factor, int64_t min_tokens, int64_t max_response_length);

}  // namespace hone
