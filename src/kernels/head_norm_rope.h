// Per-head RMSNorm (QK-norm) followed by rotary embedding in the rotate-half pairing (RoFormer, Su et al. 2021).
// T = tokens, H = heads, C = head_dim, R = C / 2 rotary pairs. Channel j pairs with j + R.
#pragma once

#include <span>

#include "core/view.h"
#include "kernels/context.h"

namespace hone::kernels {

// cos/sin of positions[t] * inv_freq[j], computed in double with our own fixed polynomials (no libm: its bits move
// with the machine), rounded to float; good to 1e-15 before that rounding for angles up to 1.6e6. Once a step, shared
// by all layers. Both are then multiplied by attention_factor (yarn), in float.
void rope_tables(Context& ctx, View<float> cos_TR, View<float> sin_TR, std::span<const int32_t> positions_T,
                 std::span<const float> inv_freq_R, float attention_factor = 1.0f);

// y = rope(norm(x) * w) per head of head_dim = w.size() or, without norm (w_C empty), x.cols / num_heads.
// rrms_TH is kept for backward (untouched without norm). x is the float output of the projection.
void head_norm_rope_forward(Context& ctx, ComputeView y_THC, View<float> rrms_TH, View<const float> x_THC,
                            View<const float> w_C, int64_t num_heads, View<const float> cos_TR,
                            View<const float> sin_TR, float eps);

// dx (overwritten, compute dtype: it feeds products) and dw_C += over tokens and heads, fixed partition.
void head_norm_rope_backward(Context& ctx, ComputeView dx_THC, View<float> dw_C, View<const float> dy_THC,
                             View<const float> x_THC, View<const float> w_C, int64_t num_heads,
                             View<const float> cos_TR, View<const float> sin_TR, View<const float> rrms_TH);

}  // namespace hone::kernels
