#include "algorithms/kl_controller.h"

#include <algorithm>

namespace hone::algorithms {

void KlController::update(double kl, int64_t answers) {
  if (!adaptive) return;
  const double error = std::clamp(kl / target - 1.0, -0.2, 0.2);
  coef *= 1.0 + error * static_cast<double>(answers) / horizon;
}

}  // namespace hone::algorithms
