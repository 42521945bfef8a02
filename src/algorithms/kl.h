// How far the policy is from the reference at a token, estimated from its two log-probs (Schulman 2020, "Approximating
// KL divergence"). x = logprob - ref_logprob.
#pragma once

#include <optional>
#include <string_view>

namespace hone::algorithms {

struct KlEstimator {
  enum class Form {
    k1,   // x
    abs,  // |x|
    k2,   // x^2 / 2
    k3    // exp(-x) + x - 1, x held in +-20 and the whole in +-10
  } form = Form::k3;
  // "+": the value is that of the form, the derivative that of k2, which is unbiased where the others' is not.
  bool straight_through = false;
};
// kl or k1, abs, mse or k2, low_var_kl or k3, each also with "+".
std::optional<KlEstimator> kl_estimator(std::string_view name);

struct TokenKl {
  double value = 0;
  double dlogprob = 0;  // d value / d logprob
};
TokenKl token_kl(const KlEstimator& estimator, float logprob, float ref_logprob);

}  // namespace hone::algorithms
