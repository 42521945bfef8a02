// Learning rate of a step: linear warm-up, then constant or cosine (verl's rule, one value per trainer step).
#pragma once

#include <cstdint>

namespace hone {

struct LrSchedule {
  double lr = 1e-6;
  int64_t warmup_steps = 0;
  int64_t total_steps = 0;  // cosine needs it
  bool cosine = false;
  double min_lr_ratio = 0;
  double num_cycles = 0.5;
};

// step counts from 0. Warm-up: lr * (step + 1) / warmup_steps, so that the first update is not lost (verl: step /
// warmup_steps).
double learning_rate(const LrSchedule& schedule, int64_t step);

}  // namespace hone
