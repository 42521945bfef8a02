#include "kernels/reference/products.h"

#include <algorithm>
#include <cmath>

namespace hone::kernels::reference {

namespace {

float element(const ConstComputeView& view, int64_t row, int64_t col) {
  return view.dtype == DType::f32 ? static_cast<const float*>(view.at(row, col))[0]
                                  : static_cast<float>(static_cast<const bf16*>(view.at(row, col))[0]);
}

float rounded(DType dtype, float value) { return dtype == DType::f32 ? value : static_cast<float>(bf16(value)); }

// One accumulator from `begin` upwards; in bf16 by pairs, the odd element first, a missing one is zero.
template <class A, class B>
float sum(DType dtype, float start, int64_t begin, int64_t end, const A& a, const B& b) {
  float acc = start;
  if (dtype == DType::f32) {
    for (int64_t d = begin; d < end; ++d) acc = std::fma(a(d), b(d), acc);
    return acc;
  }
  for (int64_t d = begin; d < end; d += 2) {
    acc = d + 1 < end ? std::fma(a(d + 1), b(d + 1), acc) : std::fma(0.0f, 0.0f, acc);
    acc = std::fma(a(d), b(d), acc);
  }
  return acc;
}

template <class A, class B>
float stored(Store store, DType dtype, float before, int64_t depth, const A& a, const B& b) {
  if (store == Store::overwrite) return sum(dtype, 0.0f, 0, depth, a, b);
  float y = before;
  for (int64_t d = 0; d < depth; d += kAddDepth) y += sum(dtype, 0.0f, d, std::min(d + kAddDepth, depth), a, b);
  return y;
}

}  // namespace

void product(View<float> y_TN, ConstComputeView x_TK, View<const float> w_NK, Store store) {
  for (int64_t t = 0; t < y_TN.rows; ++t) {
    for (int64_t n = 0; n < y_TN.cols; ++n) {
      y_TN(t, n) = stored(
          store, x_TK.dtype, y_TN(t, n), x_TK.cols, [&](int64_t k) { return element(x_TK, t, k); },
          [&](int64_t k) { return rounded(x_TK.dtype, w_NK(n, k)); });
    }
  }
}

void product_dx(View<float> dx_TK, ConstComputeView dy_TN, View<const float> w_NK, Store store) {
  for (int64_t t = 0; t < dx_TK.rows; ++t) {
    for (int64_t k = 0; k < dx_TK.cols; ++k) {
      dx_TK(t, k) = stored(
          store, dy_TN.dtype, dx_TK(t, k), dy_TN.cols, [&](int64_t n) { return element(dy_TN, t, n); },
          [&](int64_t n) { return rounded(dy_TN.dtype, w_NK(n, k)); });
    }
  }
}

void product_dw(View<float> dw_NK, ConstComputeView dy_TN, ConstComputeView x_TK) {
  for (int64_t n = 0; n < dw_NK.rows; ++n) {
    for (int64_t k = 0; k < dw_NK.cols; ++k) {
      dw_NK(n, k) = sum(
          x_TK.dtype, dw_NK(n, k), 0, x_TK.rows, [&](int64_t t) { return element(dy_TN, t, n); },
          [&](int64_t t) { return element(x_TK, t, k); });
    }
  }
}

}  // namespace hone::kernels::reference
