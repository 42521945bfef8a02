// AdamW (Loshchilov and Hutter 2019), gradient norm and finiteness over flat parameters (contiguous views).
#pragma once

#include "core/view.h"
#include "kernels/context.h"
#include "kernels/cpu/row_kernels.h"

namespace hone::kernels {

struct AdamW {
  float lr = 0, beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f, weight_decay = 0;
  int64_t step = 1;             // 1 for the first update: bias correction
  float gradient_scale = 1.0f;  // multiplies every gradient (clipping)
};

cpu::AdamWCoefficients coefficients(const AdamW& options);
// On the calling thread, w, m, v updated in place: w -= lr * (weight_decay * w + (m / c1) / (sqrt(v / c2) + eps)).
void adamw_range(const cpu::Target& target, float* w, float* m, float* v, const float* g, int64_t size,
                 const AdamW& options);

// Sum of squares in double over fixed tiles and a fixed order; infinite or NaN when any element is.
double sum_of_squares(Context& ctx, View<const float> g);

}  // namespace hone::kernels
