// Loss of a critic at one token and its derivative by the value. Aggregation is apart (loss_aggregation.h).
#pragma once

namespace hone::algorithms {

struct ValueLoss {
  double loss = 0;
  double dvalue = 0;     // d loss / d value
  bool clipped = false;  // the clipped branch was the larger one
};

// PPO's clipped value loss (Schulman et al.'s implementation; Engstrom et al. 2020, section 3): half of
// max((value - target)^2, (clip(value) - target)^2), where the clip holds the value within +-range of what it was when
// the step began.
ValueLoss clipped_value_loss(float value, float old_value, float target, double range);

}  // namespace hone::algorithms
