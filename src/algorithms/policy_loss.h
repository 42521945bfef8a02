// Policy losses of one token and their derivative by its log-probability. Aggregation is apart (loss_aggregation.h).
#pragma once

namespace hone::algorithms {

struct ClipRange {
  float low = 0.2f;   // ratio is held above 1 - low
  float high = 0.2f;  // and below 1 + high (clip-higher when larger than low: DAPO, Yu et al. 2025)
  float c = 3.0f;     // dual clip for negative advantages (Ye et al. 2020), above 1
};

struct TokenLoss {
  double loss = 0;
  double dlogprob = 0;         // d loss / d logprob
  bool clipped = false;        // the clipped branch was the larger one
  bool clipped_lower = false;  // dual clip was active
};

// PPO's clipped surrogate (Schulman et al. 2017, equation 7) with dual clip: ratio r = exp(logprob - old_logprob), the
// difference held in +-20; max(-A r, -A clip(r)), for A < 0 at most -A c.
TokenLoss clipped_policy_loss(float logprob, float old_logprob, float advantage, const ClipRange& clip);

}  // namespace hone::algorithms
