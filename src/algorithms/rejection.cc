#include "algorithms/rejection.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/fixed_math.h"

namespace hone::algorithms {

namespace {

using Scope = Rejection::Scope;
using Statistic = Rejection::Statistic;

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

void reject(const Rejection& rejection, const RatioRow& row, std::vector<uint8_t>& mask) {
  const auto fails = [&](double value) { return !(value >= rejection.low && value <= rejection.high); };
  double sum = 0, largest = -HUGE_VAL, count = 0;
  row.for_tokens([&](size_t t) {
    const double value = statistic_of(rejection.statistic, row.log_ratio(t));
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

}  // namespace hone::algorithms
