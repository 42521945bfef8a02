#include "algorithms/kl.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/fixed_math.h"

namespace hone::algorithms {

namespace {
using Form = KlEstimator::Form;
constexpr std::string_view kNames[] = {"kl", "k1", "abs", "mse", "k2", "low_var_kl", "k3"};
constexpr Form kForms[] = {Form::k1, Form::k1, Form::abs, Form::k2, Form::k2, Form::k3, Form::k3};  // of kNames
static_assert(std::size(kNames) == std::size(kForms));
}  // namespace

std::span<const std::string_view> kl_names() { return kNames; }

std::optional<KlEstimator> kl_estimator(std::string_view name) {
  const bool straight_through = name.ends_with('+');
  if (straight_through) name.remove_suffix(1);
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return KlEstimator{kForms[found - std::begin(kNames)], straight_through};
}

namespace {
TokenKl plain_kl(KlEstimator::Form form, double x) {
  switch (form) {
    case KlEstimator::Form::k1:
      return {x, 1.0};
    case KlEstimator::Form::abs:
      return {std::abs(x), x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0};
    case KlEstimator::Form::k2:
      return {0.5 * x * x, x};
    case KlEstimator::Form::k3:
      break;
  }
  const double d = std::clamp(-x, -20.0, 20.0), ratio = fixed::exp(d), value = ratio - d - 1.0;
  const bool held = d != -x || value > 10.0;
  return {std::min(value, 10.0), held ? 0.0 : 1.0 - ratio};
}
}  // namespace

TokenKl token_kl(const KlEstimator& estimator, float logprob, float ref_logprob) {
  const double x = double{logprob} - double{ref_logprob};
  TokenKl result = plain_kl(estimator.form, x);
  if (estimator.straight_through) result.dlogprob = x;
  return result;
}

}  // namespace hone::algorithms
