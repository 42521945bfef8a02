#include "loop/sample_statistics.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "core/error.h"

namespace hone {

namespace {

constexpr size_t kDraws = 1000;
constexpr uint32_t kSeed = 42;

struct MeanStd {
  double mean = 0, std = 0;
};

MeanStd mean_std(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / count)};
}

// Samples with the same answer get the same number, in the order in which answers first appear.
std::vector<size_t> number_answers(std::span<const std::string> answers) {
  std::map<std::string_view, size_t> numbers;
  std::vector<size_t> numbered;
  for (const std::string& answer : answers)
    numbered.push_back(numbers.try_emplace(answer, numbers.size()).first->second);
  return numbered;
}

// The first sample of the answer that most of the drawn samples give; of several the one that was drawn first.
size_t majority(std::span<const uint32_t> drawn, std::span<const size_t> answers, std::vector<size_t>& votes) {
  std::fill(votes.begin(), votes.end(), 0);
  for (const uint32_t sample : drawn) ++votes[answers[sample]];
  const auto more = [&](uint32_t a, uint32_t b) { return votes[answers[a]] < votes[answers[b]]; };
  return *std::max_element(drawn.begin(), drawn.end(), more);
}

}  // namespace

std::vector<int64_t> subset_sizes(int64_t num_samples) {
  std::vector<int64_t> sizes;
  for (int64_t n = 2; n < num_samples; n *= 2) sizes.push_back(n);
  if (num_samples > 1) sizes.push_back(num_samples);
  return sizes;
}

const std::vector<uint32_t>& SampleStatistics::draws(size_t population, size_t count) {
  std::vector<uint32_t>& places = draws_[{population, count}];
  if (!places.empty()) return places;
  // numpy.random.seed(42); numpy.random.choice(population, (1000, count)): numbers of the Mersenne twister cut to the
  // bits of population - 1, those beyond it dropped; a population of one takes none.
  std::mt19937 twister(kSeed);
  const auto last = static_cast<uint32_t>(population - 1);
  const uint32_t mask = last == 0 ? 0 : ~uint32_t{0} >> std::countl_zero(last);
  places.resize(kDraws * count);
  for (uint32_t& place : places) {
    do {
      place = last == 0 ? 0 : static_cast<uint32_t>(twister()) & mask;
    } while (place > last);
  }
  return places;
}

NamedNumbers SampleStatistics::of(std::span<const double> values, std::span<const std::string> answers,
                                  int64_t num_samples) {
  HONE_CHECK(!values.empty() && static_cast<int64_t>(values.size()) <= num_samples &&
                 (answers.empty() || answers.size() == values.size()),
             "{} values, {} answers of {} samples", values.size(), answers.size(), num_samples);
  const MeanStd all = mean_std(values);
  NamedNumbers result{{fmt::format("mean@{}", num_samples), all.mean}};
  if (num_samples == 1) return result;
  result.emplace_back(fmt::format("std@{}", num_samples), all.std);
  const std::vector<size_t> numbered = number_answers(answers);
  std::vector<size_t> votes(values.size());
  for (const int64_t n : subset_sizes(num_samples)) {
    const auto count = static_cast<size_t>(n);
    const std::vector<uint32_t>& places = draws(values.size(), count);
    const auto add = [&](const char* name, const std::function<double(std::span<const uint32_t>)>& reduce) {
      std::vector<double> reduced(kDraws);
      for (size_t d = 0; d < kDraws; ++d) reduced[d] = reduce(std::span(places).subspan(d * count, count));
      const MeanStd drawn = mean_std(reduced);
      result.emplace_back(fmt::format("{}@{}/mean", name, n), drawn.mean);
      result.emplace_back(fmt::format("{}@{}/std", name, n), drawn.std);
    };
    const auto less = [&](uint32_t a, uint32_t b) { return values[a] < values[b]; };
    add("best", [&](auto drawn) { return values[*std::max_element(drawn.begin(), drawn.end(), less)]; });
    add("worst", [&](auto drawn) { return values[*std::min_element(drawn.begin(), drawn.end(), less)]; });
    if (!answers.empty()) add("maj", [&](auto drawn) { return values[majority(drawn, numbered, votes)]; });
  }
  return result;
}

}  // namespace hone
