// Element-wise operations: SwiGLU (Shazeer 2020), conversion to the compute dtype.
// T = tokens, F = MLP width.
#pragma once

#include "core/view.h"
#include "kernels/context.h"

namespace hone::kernels {

// out = silu(gate) * up, gate = columns [0, F) and up = columns [F, 2F) of gate_up.
void swiglu_forward(Context& ctx, ComputeView out_TF, View<const float> gate_up_T2F);
// Overwrites d_gate_up (compute dtype: it feeds products).
void swiglu_backward(Context& ctx, ComputeView d_gate_up_T2F, View<const float> dout_TF, View<const float> gate_up_T2F);

// y = x rounded to the compute dtype of y.
void convert(Context& ctx, ComputeView y_TD, View<const float> x_TD);

}  // namespace hone::kernels
