// The draft budget of a step: how many drafted ids of which sequence to compute beside the rows that have to be. A row
// is worth the probability that its id and all drafts before it are right; it costs what the step takes longer. Chosen
// are the likeliest rows, as many as give the most ids per second. Holds no tensors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hone {

// Seconds of a step by its rows: through measured points, straight in between and beyond; never falling.
struct CostPoint {
  int64_t rows = 0;
  double seconds = 0;
  bool operator==(const CostPoint&) const = default;
};

class CostCurve {
 public:
  // Rows ascend from 1 or more, seconds are above 0; a point below an earlier one is raised to it. Raises Bug
  // otherwise.
  explicit CostCurve(std::vector<CostPoint> points);
  double seconds(int64_t rows) const;
  const std::vector<CostPoint>& points() const { return points_; }

 private:
  std::vector<CostPoint> points_;
};

class DraftBudget {
 public:
  // probabilities[d]: that the drafts 0 to d of a sequence are all right; they do not rise with d. One call for each
  // sequence that may draft.
  void clear() { offers_.clear(), begins_.assign(1, 0); }
  void offer(std::span<const double> probabilities);
  // Drafts of each offer, in their order, when the step has `rows` rows without them, of which `draws` draw an id each,
  // and room for `most_rows` more. Valid until clear.
  const std::vector<int64_t>& choose(const CostCurve& cost, int64_t rows, int64_t draws, int64_t most_rows);

 private:
  std::vector<double> offers_;
  std::vector<size_t> begins_{0};
  std::vector<int64_t> taken_;  // rows of each offer
  std::vector<size_t> heap_, order_;
};

}  // namespace hone
