// The ratio of a token between the policy that is trained and the old one, and PPO's clipped surrogate of a ratio. What
// is not finite stays so, for the step to be undone.
#pragma once

#include <algorithm>

#include "algorithms/policy_loss.h"
#include "core/fixed_math.h"

namespace hone::algorithms {

struct Ratio {
  double log = 0;     // logprob - old_logprob, held in +-20
  double value = 1;   // exp of that
  bool held = false;  // it does not move with logprob
};

inline Ratio ratio_of(float logprob, float old_logprob) {
  const double difference = double{logprob} - double{old_logprob}, log = std::clamp(difference, -20.0, 20.0);
  return {log, fixed::exp(log), difference > 20.0 || difference < -20.0};
}

inline double clamped(double ratio, const ClipRange& clip) {
  return std::clamp(ratio, 1.0 - double{clip.low}, 1.0 + double{clip.high});
}

// max(-A r, -A clip(r)).
struct Surrogate {
  double loss = 0;
  double slope = 0;  // d loss / d log r
  bool clipped = false;
};
inline Surrogate clipped_surrogate(double ratio, double advantage, const ClipRange& clip) {
  const double plain = -advantage * ratio, held = -advantage * clamped(ratio, clip);
  return {std::max(plain, held), held > plain ? 0.0 : plain, held > plain};
}

}  // namespace hone::algorithms
