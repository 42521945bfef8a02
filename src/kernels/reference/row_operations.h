// Plain loops in double for the row operations: their definition and oracle. Shapes and accumulation as in rms_norm.h,
// head_norm_rope.h, elementwise.h, logprob.h, filter.h and adamw.h.
#pragma once

#include <cstdint>

#include "core/view.h"
#include "kernels/adamw.h"
#include "kernels/filter.h"

namespace hone::kernels::reference {

using Rows = View<double>;
using ConstRows = View<const double>;

void rms_norm_forward(Rows y_TD, Rows rrms_T, ConstRows x_TD, ConstRows w_D, double eps);
void rms_norm_backward(Rows dx_TD, Rows dw_D, ConstRows dy_TD, ConstRows dresidual_TD, ConstRows x_TD, ConstRows w_D,
                       ConstRows rrms_T);

// w_C empty: no norm.
void head_norm_rope_forward(Rows y_THC, Rows rrms_TH, ConstRows x_THC, ConstRows w_C, int64_t num_heads,
                            ConstRows cos_TR, ConstRows sin_TR, double eps);
void head_norm_rope_backward(Rows dx_THC, Rows dw_C, ConstRows dy_THC, ConstRows x_THC, ConstRows w_C,
                             int64_t num_heads, ConstRows cos_TR, ConstRows sin_TR, ConstRows rrms_TH);

void swiglu_forward(Rows out_TF, ConstRows gate_up_T2F);
void swiglu_backward(Rows d_gate_up_T2F, ConstRows dout_TF, ConstRows gate_up_T2F);

struct Logprob {
  double logprob = 0, entropy = 0, lse = 0;
};
// One row; logits has the valid ids only.
Logprob logprob_forward(ConstRows logits_V, int64_t target, double temperature);
void logprob_backward(Rows dlogits_V, ConstRows logits_V, int64_t target, double temperature, double dlogprob,
                      double dentropy);

// One row, valid ids only: penalties, then cuts; what is cut becomes -inf.
void penalise(Rows logits_V, const FilterRow& row);
void cut(Rows logits_V, double temperature, const Filter& filter);

void adamw_step(Rows w, Rows m, Rows v, ConstRows g, const AdamW& options);

}  // namespace hone::kernels::reference
