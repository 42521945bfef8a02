#include "kernels/rms_norm.h"

#include "kernels/cpu/row_kernels.h"
#include "kernels/row_tasks.h"

namespace hone::kernels {

void rms_norm_forward(Context& ctx, ComputeView y_TD, View<float> rrms_T, View<const float> x_TD, View<const float> w_D,
                      float eps) {
  const int64_t tokens = x_TD.rows, width = x_TD.cols;
  HONE_CHECK(y_TD.rows == tokens && y_TD.cols == width, "y {}x{}, x {}x{}", y_TD.rows, y_TD.cols, tokens, width);
  HONE_CHECK(rrms_T.size() == tokens && w_D.size() == width, "rrms {}, w {}, x {}x{}", rrms_T.size(), w_D.size(),
             tokens, width);
  const auto kernel = ctx.target.rows->norm->rms_norm_forward[y_TD.dtype == DType::bf16];
  for_rows(ctx, tokens, width, [&](int64_t t) { rrms_T[t] = kernel(y_TD.row(t), x_TD.row(t), w_D.data, width, eps); });
}

void rms_norm_backward(Context& ctx, View<float> dx_TD, View<float> dw_D, View<const float> dy_TD,
                       View<const float> dresidual_TD, View<const float> x_TD, View<const float> w_D,
                       View<const float> rrms_T) {
  const int64_t tokens = x_TD.rows, width = x_TD.cols;
  for (const View<const float>& view : {View<const float>(dx_TD), dy_TD, dresidual_TD}) {
    HONE_CHECK(view.rows == tokens && view.cols == width, "gradient {}x{}, x {}x{}", view.rows, view.cols, tokens,
               width);
  }
  HONE_CHECK(rrms_T.size() == tokens && w_D.size() == width && dw_D.size() == width, "rrms {}, w {}, dw {}, x {}x{}",
             rrms_T.size(), w_D.size(), dw_D.size(), tokens, width);
  const auto kernel = ctx.target.rows->norm->rms_norm_backward;
  sum_over_tokens(ctx, dw_D, tokens, [&](float* dw, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      kernel(dx_TD.row(t), dw, dy_TD.row(t), dresidual_TD.row(t), x_TD.row(t), w_D.data, rrms_T[t], width);
    }
  });
}

}  // namespace hone::kernels
