#include "kernels/elementwise.h"

#include "kernels/cpu/row_kernels.h"
#include "kernels/row_tasks.h"

namespace hone::kernels {

void swiglu_forward(Context& ctx, ComputeView out_TF, View<const float> gate_up_T2F) {
  const int64_t tokens = out_TF.rows, width = out_TF.cols;
  HONE_CHECK(gate_up_T2F.rows == tokens && gate_up_T2F.cols == 2 * width, "gate_up {}x{}, out {}x{}", gate_up_T2F.rows,
             gate_up_T2F.cols, tokens, width);
  const auto kernel = ctx.target.rows->elementwise->swiglu_forward[out_TF.dtype == DType::bf16];
  for_rows(ctx, tokens, 2 * width,
           [&](int64_t t) { kernel(out_TF.row(t), gate_up_T2F.row(t), gate_up_T2F.row(t) + width, width); });
}

void swiglu_backward(Context& ctx, ComputeView d_gate_up_T2F, View<const float> dout_TF,
                     View<const float> gate_up_T2F) {
  const int64_t tokens = dout_TF.rows, width = dout_TF.cols;
  HONE_CHECK(gate_up_T2F.rows == tokens && gate_up_T2F.cols == 2 * width, "gate_up {}x{}, dout {}x{}", gate_up_T2F.rows,
             gate_up_T2F.cols, tokens, width);
  HONE_CHECK(d_gate_up_T2F.rows == tokens && d_gate_up_T2F.cols == 2 * width, "d_gate_up {}x{}, dout {}x{}",
             d_gate_up_T2F.rows, d_gate_up_T2F.cols, tokens, width);
  const auto kernel = ctx.target.rows->elementwise->swiglu_backward[d_gate_up_T2F.dtype == DType::bf16];
  for_rows(ctx, tokens, 2 * width, [&](int64_t t) {
    const float* gate = gate_up_T2F.row(t);
    kernel(d_gate_up_T2F.row(t), d_gate_up_T2F.at(t, width), dout_TF.row(t), gate, gate + width, width);
  });
}

void convert(Context& ctx, ComputeView y_TD, View<const float> x_TD) {
  HONE_CHECK(y_TD.rows == x_TD.rows && y_TD.cols == x_TD.cols, "y {}x{}, x {}x{}", y_TD.rows, y_TD.cols, x_TD.rows,
             x_TD.cols);
  const auto kernel = ctx.target.rows->elementwise->convert[y_TD.dtype == DType::bf16];
  for_rows(ctx, x_TD.rows, x_TD.cols, [&](int64_t t) { kernel(y_TD.row(t), x_TD.row(t), x_TD.cols); });
}

}  // namespace hone::kernels
