// Statistics of the N samples of one prompt, under the names and by the rules of verl's validation:
//   mean@N; std@N, that of the population; and for n = 2, 4, 8, ... and N itself best@n, worst@n (the largest and
//   the smallest of n samples) and, where samples say what they answer, maj@n (the value of the answer given most often
//   among n samples, the earliest of several), each as /mean and /std over 1000 bootstrap draws of n samples with
//   replacement.
// The draws are numpy's of seed 42, so that the numbers are verl's own and the same in every run.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hone {

using NamedNumbers = std::vector<std::pair<std::string, double>>;

class SampleStatistics {
 public:
  // `values`: of the samples that have one, at least one, at most N = num_samples. `answers`: beside them, or empty.
  NamedNumbers of(std::span<const double> values, std::span<const std::string> answers, int64_t num_samples);

 private:
  // Places of 1000 draws of `count` out of `population` samples; every prompt sees the same ones.
  const std::vector<uint32_t>& draws(size_t population, size_t count);
  std::map<std::pair<size_t, size_t>, std::vector<uint32_t>> draws_;
};

// 2, 4, 8, ... below N, then N; nothing for N = 1.
std::vector<int64_t> subset_sizes(int64_t num_samples);

}  // namespace hone
