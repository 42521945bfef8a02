// Biases of linear layers, forward and backward.   T = packed tokens, N = outputs.
#pragma once

#include "core/view.h"
#include "kernels/context.h"

namespace hone::kernels {

// y[t] += b, after the product: a row depends on that row alone (law 1).
void bias_forward(Context& ctx, View<float> y_TN, View<const float> b_N);

// db += sum over tokens of dy[t], in float, over fixed tiles of tokens and in their order (law 2).
void bias_backward(Context& ctx, View<float> db_N, ConstComputeView dy_TN);

}  // namespace hone::kernels
