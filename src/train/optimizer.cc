#include "train/optimizer.h"

#include <cmath>

#include "kernels/adamw.h"

namespace hone {

Optimizer::Optimizer(const Decoder& decoder, const OptimizerOptions& options) : options_(options) {
  for (const Parameter& parameter : decoder.trained()) {
    moments_.emplace_back(parameter, options.moments, static_cast<uint32_t>(moments_.size()));
  }
}

OptimizerStep Optimizer::step(kernels::Context& ctx, Decoder& decoder, double lr) {
  auto& parameters = decoder.trained();
  double squares = 0;
  for (Parameter& parameter : parameters) squares += kernels::sum_of_squares(ctx, parameter.gradient());
  OptimizerStep result;
  result.grad_norm = std::sqrt(squares);
  if (!std::isfinite(result.grad_norm)) {
    result.outcome = StepOutcome::not_finite;
    return result;
  }
  if (result.grad_norm == 0.0) {
    result.outcome = StepOutcome::zero_gradient;
    return result;
  }
  ++num_steps_;
  kernels::AdamW adamw{.lr = static_cast<float>(lr),
                       .beta1 = options_.beta1,
                       .beta2 = options_.beta2,
                       .eps = options_.eps,
                       .weight_decay = options_.weight_decay,
                       .step = num_steps_,
                       .gradient_scale = 1.0f};
  if (options_.grad_clip > 0 && result.grad_norm > double{options_.grad_clip}) {
    adamw.gradient_scale = static_cast<float>(double{options_.grad_clip} / (result.grad_norm + 1e-6));
  }
  for (size_t p = 0; p < parameters.size(); ++p) {
    const float* gradient = parameters[p].gradient().data;
    parameters[p].update(
        ctx, [&](int64_t first_row, View<float> w) { moments_[p].update(ctx.target, first_row, w, gradient, adamw); });
  }
  return result;
}

}  // namespace hone
