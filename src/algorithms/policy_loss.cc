#include "algorithms/policy_loss.h"

#include <algorithm>

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

}  // namespace hone::algorithms
