// The weight of KL in the reward: fixed, or adapted so that the KL stays near a target (Ziegler et al. 2019, section
// 2.2). The weight is all of its state.
#pragma once

#include <cstdint>

namespace hone::algorithms {

struct KlController {
  double coef = 0.001;
  bool adaptive = false;
  double target = 0.1;     // adaptive: KL of a token, nats
  double horizon = 10000;  // adaptive: answers in which an error of 20 % changes the weight by about as much

  // After a step of `answers` answers whose mean KL was `kl`: coef *= 1 + clip(kl / target - 1, -0.2, 0.2) * answers /
  // horizon.
  void update(double kl, int64_t answers);
};

}  // namespace hone::algorithms
