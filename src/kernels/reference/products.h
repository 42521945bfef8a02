// Plain loops for the products: definition and oracle of kernels/products.h, bit for bit where the target's bf16 dot
// product is emulated or the dtype is float32. W [N, K] is given as float and rounded to the dtype of x.
#pragma once

#include "core/view.h"
#include "kernels/products.h"

namespace hone::kernels::reference {

// y[t][n] (=, +=) sum over k of x[t][k] * w[n][k].
void product(View<float> y_TN, ConstComputeView x_TK, View<const float> w_NK, Store store);
// dx[t][k] (=, +=) sum over n of dy[t][n] * w[n][k].
void product_dx(View<float> dx_TK, ConstComputeView dy_TN, View<const float> w_NK, Store store);
// dw[n][k] += sum over t of dy[t][n] * x[t][k].
void product_dw(View<float> dw_NK, ConstComputeView dy_TN, ConstComputeView x_TK);

}  // namespace hone::kernels::reference
