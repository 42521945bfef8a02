#include "kernels/bias.h"

#include "kernels/cpu/row_kernels.h"
#include "kernels/row_tasks.h"

namespace hone::kernels {

void bias_forward(Context& ctx, View<float> y_TN, View<const float> b_N) {
  HONE_CHECK(b_N.size() == y_TN.cols, "bias of {}, y {} wide", b_N.size(), y_TN.cols);
  const auto kernel = ctx.target.rows->elementwise->add;
  for_rows(ctx, y_TN.rows, y_TN.cols, [&](int64_t t) { kernel(y_TN.row(t), b_N.data, y_TN.cols); });
}

void bias_backward(Context& ctx, View<float> db_N, ConstComputeView dy_TN) {
  HONE_CHECK(db_N.size() == dy_TN.cols, "bias of {}, dy {} wide", db_N.size(), dy_TN.cols);
  const auto kernel = ctx.target.rows->elementwise->add;
  sum_over_tokens(ctx, {db_N.data, db_N.size()}, dy_TN.rows, [&](float* db, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      if (dy_TN.dtype == DType::f32) {
        kernel(db, static_cast<const float*>(dy_TN.row(t)), dy_TN.cols);
        continue;
      }
      const bf16* dy = static_cast<const bf16*>(dy_TN.row(t));
      for (int64_t n = 0; n < dy_TN.cols; ++n) db[n] += static_cast<float>(dy[n]);
    }
  });
}

}  // namespace hone::kernels
