#include "algorithms/kl.h"

#include <algorithm>
#include <cmath>

#include "core/fixed_math.h"

namespace hone::algorithms {

std::optional<KlEstimator> kl_estimator(std::string_view name) {
  using Form = KlEstimator::Form;
  KlEstimator estimator;
  if (name.ends_with('+')) {
    estimator.straight_through = true;
    name.remove_suffix(1);
  }
  if (name == "kl" || name == "k1") {
    estimator.form = Form::k1;
  } else if (name == "abs") {
    estimator.form = Form::abs;
  } else if (name == "mse" || name == "k2") {
    estimator.form = Form::k2;
  } else if (name == "low_var_kl" || name == "k3") {
    estimator.form = Form::k3;
  } else {
    return std::nullopt;
  }
  return estimator;
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
  const bool held = d != -x || value > 10.0 || value < -10.0;
  return {std::clamp(value, -10.0, 10.0), held ? 0.0 : 1.0 - ratio};
}
}  // namespace

TokenKl token_kl(const KlEstimator& estimator, float logprob, float ref_logprob) {
  const double x = double{logprob} - double{ref_logprob};
  TokenKl result = plain_kl(estimator.form, x);
  if (estimator.straight_through) result.dlogprob = x;
  return result;
}

}  // namespace hone::algorithms
