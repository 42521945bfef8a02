#include "rollout/draft_budget.h"

#include <algorithm>

#include "core/error.h"

namespace hone {

CostCurve::CostCurve(std::vector<CostPoint> points) : points_(std::move(points)) {
  HONE_CHECK(!points_.empty(), "a cost curve without points");
  for (size_t i = 0; i < points_.size(); ++i) {
    const int64_t before = i == 0 ? 0 : points_[i - 1].rows;
    HONE_CHECK(points_[i].rows > before && points_[i].seconds > 0, "{} seconds for {} rows after {}",
               points_[i].seconds, points_[i].rows, before);
    if (i > 0) points_[i].seconds = std::max(points_[i].seconds, points_[i - 1].seconds);
  }
}

double CostCurve::seconds(int64_t rows) const {
  if (points_.size() == 1 || rows <= points_.front().rows) return points_.front().seconds;
  size_t i = 1;
  while (i + 1 < points_.size() && points_[i].rows < rows) ++i;
  const CostPoint &a = points_[i - 1], &b = points_[i];
  const double slope = (b.seconds - a.seconds) / static_cast<double>(b.rows - a.rows);
  return a.seconds + slope * static_cast<double>(rows - a.rows);
}

void DraftBudget::offer(std::span<const double> probabilities) {
  offers_.insert(offers_.end(), probabilities.begin(), probabilities.end());
  begins_.push_back(offers_.size());
}

const std::vector<int64_t>& DraftBudget::choose(const CostCurve& cost, int64_t rows, int64_t draws, int64_t most_rows) {
  const size_t num_offers = begins_.size() - 1;
  taken_.assign(num_offers, 0);
  const auto next = [&](size_t o) { return begins_[o] + static_cast<size_t>(taken_[o]); };
  // the likeliest next row on top; of equals the first offer
  const auto below = [&](size_t a, size_t b) {
    const double pa = offers_[next(a)], pb = offers_[next(b)];
    return pa != pb ? pa < pb : a > b;
  };
  heap_.clear();
  order_.clear();
  for (size_t o = 0; o < num_offers; ++o) {
    if (begins_[o + 1] > begins_[o]) heap_.push_back(o);
  }
  std::make_heap(heap_.begin(), heap_.end(), below);
  auto ids = static_cast<double>(draws);
  double best_rate = ids / cost.seconds(rows);
  size_t best = 0;  // rows of order_
  for (int64_t more = 1; more <= most_rows && !heap_.empty(); ++more) {
    std::pop_heap(heap_.begin(), heap_.end(), below);
    const size_t o = heap_.back();
    ids += offers_[next(o)];
    ++taken_[o];
    order_.push_back(o);
    // the curve has steps, so rows that do not pay alone may pay together
    if (const double rate = ids / cost.seconds(rows + more); rate > best_rate) {
      best_rate = rate;
      best = order_.size();
    }
    if (next(o) < begins_[o + 1]) {
      std::push_heap(heap_.begin(), heap_.end(), below);
    } else {
      heap_.pop_back();
    }
  }
  for (size_t i = best; i < order_.size(); ++i) --taken_[order_[i]];
  return taken_;
}

}  // namespace hone
