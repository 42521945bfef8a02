// RMSNorm over rows (Zhang and Sennrich 2019), and per head with rotary embedding (Qwen3).   T = tokens, D = width.
// A row's result depends on that row alone (law 1).
#pragma once

#include "core/view.h"
#include "kernels/context.h"

namespace hone::kernels {

// y[t] = x[t] * rrms[t] * w, rrms[t] = 1 / sqrt(mean(x[t]^2) + eps), kept for backward.
void rms_norm_forward(Context& ctx, ComputeView y_TD, View<float> rrms_T, View<const float> x_TD, View<const float> w_D,
                      float eps);

// dx = dresidual + gradient through the norm (overwritten; dx and dresidual may be the same view); dw_D += over tokens
// in fixed tiles and a fixed tree, so the number of threads changes nothing (law 2).
void rms_norm_backward(Context& ctx, View<float> dx_TD, View<float> dw_D, View<const float> dy_TD,
                       View<const float> dresidual_TD, View<const float> x_TD, View<const float> w_D,
                       View<const float> rrms_T);

}  // namespace hone::kernels
