// How far the policy is from the reference at a token, estimated from its two log-probs (Schulman 2020, "Approximating
// KL divergence"). x = logprob - ref_logprob.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace hone::algorithms {

struct KlEstimator {
  enum class Form {
    k1,   // x
    abs,  // |x|
    k2,   // x^2 / 2
    k3    // exp(-x) + x - 1, x held in +-20 and the whole at 10
  } form = Form::k3;
  // "+": the value is that of the form, the derivative that of k2, which is unbiased where the others' is not.
  bool straight_through = false;
};
// By a name of kl_names(), or one with "+" behind it.
std::optional<KlEstimator> kl_estimator(std::string_view name);
// kl and k1, abs, mse and k2, low_var_kl and k3.
std::span<const std::string_view> kl_names();

struct TokenKl {
  double value = 0;
  double dlogprob = 0;  // d value / d logprob
};
TokenKl token_kl(const KlEstimator& estimator, float logprob, float ref_logprob);

}  // namespace hone::algorithms
