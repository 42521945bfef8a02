#include "train/lr_schedule.h"

#include <algorithm>
#include <numbers>

#include "core/fixed_math.h"

namespace hone {

double learning_rate(const LrSchedule& s, int64_t step) {
  if (step < s.warmup_steps) return s.lr * static_cast<double>(step + 1) / static_cast<double>(s.warmup_steps);
  if (!s.cosine) return s.lr;
  const double length = static_cast<double>(std::max<int64_t>(1, s.total_steps - s.warmup_steps));
  const double progress = static_cast<double>(step - s.warmup_steps) / length;
  const double m = s.min_lr_ratio;
  const double wave = fixed::sincos(2.0 * std::numbers::pi * s.num_cycles * progress).cos;
  return s.lr * std::max(m, 0.5 * (1 + m) + 0.5 * (1 - m) * wave);
}

}  // namespace hone
