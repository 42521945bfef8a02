// How sure the numbers of an evaluation are: 95 % intervals of means over prompts, and pass@k without bias.
// Prompts are what is drawn at random here: the samples of one prompt resemble one another, so the unit of every
// interval is the prompt (Miller 2024, "Adding Error Bars to Evals", section 2.2).
#pragma once

#include <cstdint>
#include <span>

namespace hone {

struct Interval {
  double low = 0, high = 0;
};

// Of the mean of one number per prompt: mean +- 1.96 standard errors, the error from the sample variance. Unbounded for
// one number.
Interval normal_interval(std::span<const double> numbers);
// The same, but Wilson's (1927) where all numbers are 0 or 1: it has a width for 0 of 20 too.
Interval mean_interval(std::span<const double> numbers);

// The chance that at least one of k samples drawn without replacement from n is right, when `right` of the n are
// (Chen et al. 2021, equation 1). 0 <= right <= n, 1 <= k <= n.
double pass_at_k(int64_t n, int64_t right, int64_t k);

// Two-sided p-value of the sign test: `wins` of wins + losses, under even odds. 1 for none.
double sign_test(int64_t wins, int64_t losses);

}  // namespace hone
