#include "algorithms/policy_loss.h"

#include <algorithm>

#include "algorithms/covariance_loss.h"
#include "algorithms/policy_ratio.h"
#include "algorithms/sequence_loss.h"
#include "core/fixed_math.h"

namespace hone::algorithms {

TokenLoss clipped_policy_loss(float logprob, float old_logprob, float advantage, const ClipRange& clip) {
  const Ratio ratio = ratio_of(logprob, old_logprob);
  const double a = advantage;
  const Surrogate surrogate = clipped_surrogate(ratio.value, a, clip);
  TokenLoss result{surrogate.loss, ratio.held ? 0.0 : surrogate.slope, surrogate.clipped};
  if (a < 0 && result.loss > -a * double{clip.c}) {
    result.loss = -a * double{clip.c};
    result.dlogprob = 0.0;
    result.clipped_lower = true;
  }
  return result;
}

namespace {

TokenLoss weighted(TokenLoss loss, const PolicyToken& token) {
  loss.loss *= double{token.weight};
  loss.dlogprob *= double{token.weight};
  return loss;
}

TokenLoss vanilla(const PolicyToken& t, const PolicyLossOptions& options) {
  return weighted(clipped_policy_loss(t.logprob, t.old_logprob, t.advantage, options.clip), t);
}

// Gao et al. 2025, SAPO: -A gate(r), gate(r) = sigmoid(tau (r - 1)) 4 / tau; its slope at r = 1 is 1.
TokenLoss sapo(const PolicyToken& t, const PolicyLossOptions& options) {
  const double a = t.advantage, tau = a > 0 ? options.tau_pos : options.tau_neg;
  const Ratio ratio = ratio_of(t.logprob, t.old_logprob);
  // tau (r - 1) may be as large as e^20: exp of that is no number, and the sigmoid is 1
  const double sigmoid = 1.0 / (1.0 + fixed::exp(std::clamp(-tau * (ratio.value - 1.0), -700.0, 700.0)));
  TokenLoss result;
  result.loss = -a * sigmoid * 4.0 / tau;
  result.dlogprob = ratio.held ? 0.0 : -a * 4.0 * sigmoid * (1.0 - sigmoid) * ratio.value;
  return weighted(result, t);
}

// Chu et al. 2025, GPG: -A logprob. With the weights of a correction also bypass mode's `reinforce`.
TokenLoss gpg(const PolicyToken& t, const PolicyLossOptions&) {
  return weighted({-double{t.advantage} * double{t.logprob}, -double{t.advantage}}, t);
}

// MiniMax 2025, CISPO: -sg(clip(r)) A logprob.
TokenLoss cispo(const PolicyToken& t, const PolicyLossOptions& options) {
  const double ratio = ratio_of(t.logprob, t.old_logprob).value, held = clamped(ratio, options.clip);
  const double slope = -held * double{t.advantage};
  return weighted({slope * double{t.logprob}, slope, held != ratio}, t);
}

constexpr PolicyLoss kLosses[] = {
    {.name = "vanilla", .token = vanilla, .clips = true, .dual_clips = true},
    {.name = "gspo",
     .token = gspo_token,
     .coefficients = mean_log_ratios,
     .aggregation = LossAggregation::seq_mean_token_mean,
     .clips = true},
    {.name = "sapo", .token = sapo, .aggregation = LossAggregation::seq_mean_token_mean},
    {.name = "gpg", .token = gpg},
    {.name = "clip_cov",
     .token = clip_cov_token,
     .coefficients = drawn_by_covariance,
     .whole_batch = true,
     .clips = true},
    {.name = "kl_cov",
     .token = kl_cov_token,
     .coefficients = largest_covariance,
     .whole_batch = true,
     .teaches_without_advantage = true},
    {.name = "geo_mean",
     .token = geo_mean_token,
     .coefficients = geometric_means,
     .aggregation = LossAggregation::seq_mean_token_mean,
     .clips = true},
    {.name = "cispo", .token = cispo, .clips = true},
};

}  // namespace

std::span<const PolicyLoss> policy_losses() { return kLosses; }

const PolicyLoss* find_policy_loss(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kLosses), std::end(kLosses), [&](const PolicyLoss& loss) { return loss.name == name; });
  return found == std::end(kLosses) ? nullptr : found;
}

}  // namespace hone::algorithms
