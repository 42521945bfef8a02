#include "algorithms/value_loss.h"

#include <algorithm>

namespace hone::algorithms {

ValueLoss clipped_value_loss(float value, float old_value, float target, double range) {
  const double plain = double{value} - double{target};
  const double held = std::clamp(double{value}, double{old_value} - range, double{old_value} + range);
  const double clipped = held - double{target};
  ValueLoss result;
  result.clipped = clipped * clipped > plain * plain;
  result.loss = 0.5 * std::max(plain * plain, clipped * clipped);
  // where the clipped branch is the larger one the value stands outside the range, and does not move it
  result.dvalue = result.clipped ? 0.0 : plain;
  return result;
}

}  // namespace hone::algorithms
