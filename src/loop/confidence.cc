#include "loop/confidence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace hone {

namespace {

constexpr double kNormal975 = 1.959963984540054;  // the 97.5 % point of the normal distribution

Interval wilson(double share, double count) {
  const double z2 = kNormal975 * kNormal975, whole = 1 + z2 / count;
  const double middle = (share + z2 / (2 * count)) / whole;
  const double half = kNormal975 / whole * std::sqrt(share * (1 - share) / count + z2 / (4 * count * count));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

double mean_of(std::span<const double> numbers) {
  HONE_CHECK(!numbers.empty(), "no numbers");
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum / static_cast<double>(numbers.size());
}

}  // namespace

Interval normal_interval(std::span<const double> numbers) {
  const double mean = mean_of(numbers);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (numbers.size() == 1) return {-kInfinity, kInfinity};
  const auto count = static_cast<double>(numbers.size());
  double squares = 0;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  const double half = kNormal975 * std::sqrt(squares / (count - 1) / count);
  return {mean - half, mean + half};
}

Interval mean_interval(std::span<const double> numbers) {
  const auto is_verdict = [](double number) { return number == 0 || number == 1; };
  if (!std::all_of(numbers.begin(), numbers.end(), is_verdict)) return normal_interval(numbers);
  return wilson(mean_of(numbers), static_cast<double>(numbers.size()));
}

double pass_at_k(int64_t n, int64_t right, int64_t k) {
  HONE_CHECK(0 <= right && right <= n && 1 <= k && k <= n, "{} right of {}, k = {}", right, n, k);
  if (n - right < k) return 1;
  double none = 1;
  for (int64_t i = n - right + 1; i <= n; ++i) none *= 1 - static_cast<double>(k) / static_cast<double>(i);
  return 1 - none;
}

double sign_test(int64_t wins, int64_t losses) {
  const int64_t count = wins + losses, fewer = std::min(wins, losses);
  double tail = 0;
  for (int64_t k = 0; k <= fewer; ++k) {
    const double log_choose = std::lgamma(static_cast<double>(count + 1)) - std::lgamma(static_cast<double>(k + 1)) -
                              std::lgamma(static_cast<double>(count - k + 1));
    tail += std::exp(log_choose - static_cast<double>(count) * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

}  // namespace hone
