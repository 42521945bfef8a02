#include "kernels/head_norm_rope.h"

#include "kernels/cpu/row_kernels.h"
#include "kernels/row_tasks.h"

namespace hone::kernels {

namespace {
// Rotary pairs of a head, after checking what all operands must agree on.
int64_t checked_pairs(View<const float> x_THC, View<const float> w_C, int64_t num_heads, View<const float> cos_TR,
                      View<const float> sin_TR) {
  const int64_t head_dim = num_heads > 0 ? x_THC.cols / num_heads : 0;
  HONE_CHECK(num_heads > 0 && head_dim * num_heads == x_THC.cols && head_dim % 2 == 0, "{} columns of {} heads",
             x_THC.cols, num_heads);
  HONE_CHECK(w_C.size() == 0 || w_C.size() == head_dim, "w {}, head_dim {}", w_C.size(), head_dim);
  for (const View<const float>& table : {cos_TR, sin_TR}) {
    HONE_CHECK(table.rows == x_THC.rows && table.cols == head_dim / 2, "table {}x{}, {} tokens, head_dim {}",
               table.rows, table.cols, x_THC.rows, head_dim);
  }
  return head_dim / 2;
}
}  // namespace

void rope_tables(Context& ctx, View<float> cos_TR, View<float> sin_TR, std::span<const int32_t> positions_T,
                 std::span<const float> inv_freq_R, float attention_factor) {
  const int64_t tokens = static_cast<int64_t>(positions_T.size()), pairs = static_cast<int64_t>(inv_freq_R.size());
  for (const View<float>& table : {cos_TR, sin_TR}) {
    HONE_CHECK(table.rows == tokens && table.cols == pairs, "table {}x{}, {} positions, {} frequencies", table.rows,
               table.cols, tokens, pairs);
  }
  const auto kernel = ctx.target.rows->norm->rope_table;
  for_rows(ctx, tokens, 8 * pairs, [&](int64_t t) {
    kernel(cos_TR.row(t), sin_TR.row(t), positions_T[static_cast<size_t>(t)], inv_freq_R.data(), pairs);
    if (attention_factor == 1.0f) return;
    for (int64_t j = 0; j < pairs; ++j) {
      cos_TR(t, j) *= attention_factor;
      sin_TR(t, j) *= attention_factor;
    }
  });
}

void head_norm_rope_forward(Context& ctx, ComputeView y_THC, View<float> rrms_TH, View<const float> x_THC,
                            View<const float> w_C, int64_t num_heads, View<const float> cos_TR,
                            View<const float> sin_TR, float eps) {
  const int64_t tokens = x_THC.rows, width = x_THC.cols;
  const int64_t pairs = checked_pairs(x_THC, w_C, num_heads, cos_TR, sin_TR);
  HONE_CHECK(y_THC.rows == tokens && y_THC.cols == width, "y {}x{}, x {}x{}", y_THC.rows, y_THC.cols, tokens, width);
  const bool norm = w_C.size() > 0;
  HONE_CHECK(!norm || (rrms_TH.rows == tokens && rrms_TH.cols == num_heads), "rrms {}x{}, {} tokens, {} heads",
             rrms_TH.rows, rrms_TH.cols, tokens, num_heads);
  const auto kernel = ctx.target.rows->norm->head_norm_rope_forward[y_THC.dtype == DType::bf16];
  for_rows(ctx, tokens, width, [&](int64_t t) {
    kernel(y_THC.row(t), norm ? rrms_TH.row(t) : nullptr, x_THC.row(t), norm ? w_C.data : nullptr, num_heads, pairs,
           cos_TR.row(t), sin_TR.row(t), eps);
  });
}

void head_norm_rope_backward(Context& ctx, ComputeView dx_THC, View<float> dw_C, View<const float> dy_THC,
                             View<const float> x_THC, View<const float> w_C, int64_t num_heads,
                             View<const float> cos_TR, View<const float> sin_TR, View<const float> rrms_TH) {
  const int64_t tokens = dy_THC.rows, width = dy_THC.cols;
  const int64_t pairs = checked_pairs(dy_THC, w_C, num_heads, cos_TR, sin_TR);
  HONE_CHECK(dx_THC.rows == tokens && dx_THC.cols == width, "dx {}x{}, dy {}x{}", dx_THC.rows, dx_THC.cols, tokens,
             width);
  const auto kernel = ctx.target.rows->norm->head_norm_rope_backward[dx_THC.dtype == DType::bf16];
  if (w_C.size() == 0) {
    for_rows(ctx, tokens, width, [&](int64_t t) {
      kernel(dx_THC.row(t), nullptr, dy_THC.row(t), nullptr, nullptr, nullptr, num_heads, pairs, cos_TR.row(t),
             sin_TR.row(t));
    });
    return;
  }
  HONE_CHECK(x_THC.rows == tokens && x_THC.cols == width, "x {}x{}, dy {}x{}", x_THC.rows, x_THC.cols, tokens, width);
  HONE_CHECK(rrms_TH.rows == tokens && rrms_TH.cols == num_heads && dw_C.size() == w_C.size(),
             "rrms {}x{}, dw {}, {} tokens, {} heads, w {}", rrms_TH.rows, rrms_TH.cols, dw_C.size(), tokens, num_heads,
             w_C.size());
  sum_over_tokens(ctx, dw_C, tokens, [&](float* dw, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      kernel(dx_THC.row(t), dw, dy_THC.row(t), x_THC.row(t), w_C.data, rrms_TH.row(t), num_heads, pairs, cos_TR.row(t),
             sin_TR.row(t));
    }
  });
}

}  // namespace hone::kernels
