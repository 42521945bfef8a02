// Acceptance: how likely the id that a text has had before comes again, by the length of the match. Learnt from every
// id that is drawn, drafted or not: what would have been proposed is compared with what came. So it depends on the
// texts alone, costs no row of a step, and finds out by itself when drafts begin to pay.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace hone {

class Acceptance {
 public:
  static constexpr int kClasses = 8;  // match lengths 1, 2 to 3, 4 to 7, ..., 128 and more
  static int class_of(int64_t length) {
    return std::min(static_cast<int>(std::bit_width(static_cast<uint64_t>(length))), kClasses) - 1;
  }

  // Older ids count less: after `memory` more of a class, a third.
  explicit Acceptance(double memory) : keep_(1 - 1 / memory) {}

  void observe(int64_t length, bool right) {
    Count& c = counts_[static_cast<size_t>(class_of(length))];
    c.times = c.times * keep_ + 1;
    c.right = c.right * keep_ + right;
  }
  // Together with so many ids of which a share of `prior` was right.
  double probability(int64_t length, double prior, double weight) const {
    const Count& c = counts_[static_cast<size_t>(class_of(length))];
    return (c.right + weight * prior) / (c.times + weight);
  }

  struct Count {
    double times = 0, right = 0;
    bool operator==(const Count&) const = default;
  };
  const std::array<Count, kClasses>& counts() const { return counts_; }
  void set_counts(const std::array<Count, kClasses>& counts) { counts_ = counts; }

 private:
  double keep_;
  std::array<Count, kClasses> counts_;
};

}  // namespace hone
