#include "algorithms/policy_loss.h"

#include <algorithm>

#include "algorithms/covariance_loss.h"
#include "algorithms/sequence_loss.h"
#include "core/fixed_math.h"

namespace hone::algorithms {

TokenLoss clipped_policy_loss(float logprob, float old_logprob, float advantage, const ClipRange& clip) {
  const double difference = double{logprob} - double{old_logprob};
  const double ratio = fixed::exp(std::clamp(difference, -20.0, 20.0));
  const double a = advantage;
  const double plain = -a * ratio;
  const double clipped = -a * std::clamp(ratio, 1.0 - double{clip.low}, 1.0 + double{clip.high});
  TokenLoss result;
  result.clipped = clipped > plain;
  result.loss = std::max(plain, clipped);
  if (a < 0 && result.loss > -a * double{clip.c}) {
    result.loss = -a * double{clip.c};
    result.clipped_lower = true;
  }
  const bool held = result.clipped || result.clipped_lower || difference > 20.0 || difference < -20.0;
  result.dlogprob = held ? 0.0 : plain;  // d ratio / d logprob = ratio
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
  const double difference = double{t.logprob} - double{t.old_logprob};
  const double ratio = fixed::exp(std::clamp(difference, -20.0, 20.0));
  // tau (r - 1) may be as large as e^20: exp of that is no number, and the sigmoid is 1
  const double sigmoid = 1.0 / (1.0 + fixed::exp(std::clamp(-tau * (ratio - 1.0), -700.0, 700.0)));
  TokenLoss result;
  result.loss = -a * sigmoid * 4.0 / tau;
  const bool held = difference > 20.0 || difference < -20.0;
  result.dlogprob = held ? 0.0 : -a * 4.0 * sigmoid * (1.0 - sigmoid) * ratio;
  return weighted(result, t);
}

// Chu et al. 2025, GPG: -A logprob. With the weights of a correction also bypass mode's `reinforce`.
TokenLoss gpg(const PolicyToken& t, const PolicyLossOptions&) {
  return weighted({-double{t.advantage} * double{t.logprob}, -double{t.advantage}}, t);
}

// MiniMax 2025, CISPO: -sg(clip(r)) A logprob.
TokenLoss cispo(const PolicyToken& t, const PolicyLossOptions& options) {
  const double ratio = fixed::exp(std::clamp(double{t.logprob} - double{t.old_logprob}, -20.0, 20.0));
  const double held = std::clamp(ratio, 1.0 - double{options.clip.low}, 1.0 + double{options.clip.high});
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
