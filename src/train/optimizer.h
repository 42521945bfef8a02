// Optimizer: AdamW over what a decoder trains with global gradient clipping. A step with any non-finite gradient,
// or with no gradient at all, leaves weights and moments untouched to the bit and says so.
#pragma once

#include <cstdint>
#include <vector>

#include "models/decoder.h"
#include "train/moments.h"

namespace hone {

struct OptimizerOptions {
  float beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f;
  float weight_decay = 0.01f;  // matrices and vectors alike, as verl and torch do by default
  float grad_clip = 1.0f;      // 0 or below: off
  MomentForm moments = MomentForm::f32;
};

enum class StepOutcome { applied, zero_gradient, not_finite };

struct OptimizerStep {
  double grad_norm = 0;
  StepOutcome outcome = StepOutcome::applied;
};

class Optimizer {
 public:
  Optimizer(const Decoder& decoder, const OptimizerOptions& options);
  OptimizerStep step(kernels::Context& ctx, Decoder& decoder, double lr);

  int64_t num_steps() const { return num_steps_; }
  // State for checkpoints: the moments of every parameter that is trained, in the decoder's order.
  void set_num_steps(int64_t steps) { num_steps_ = steps; }
  std::vector<Moments>& moments() { return moments_; }
  const std::vector<Moments>& moments() const { return moments_; }

 private:
  OptimizerOptions options_;
  std::vector<Moments> moments_;
  int64_t num_steps_ = 0;  // applied
};

}  // namespace hone
