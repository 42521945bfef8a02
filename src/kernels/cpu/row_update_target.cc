// AdamW and the sum of squares.
#include "kernels/cpu/row_kernels.h"
#include "kernels/cpu/row_vec.h"

namespace hone::kernels::cpu::HONE_TARGET {
namespace {

void adamw(float* w, float* m, float* v, const float* g, int64_t size, const AdamWCoefficients& c) {
  const Vec beta1 = set1(c.beta1), beta2 = set1(c.beta2), rest1 = set1(c.one_minus_beta1);
  const Vec rest2 = set1(c.one_minus_beta2), inv_c1 = set1(c.inv_c1), inv_c2 = set1(c.inv_c2), eps = set1(c.eps);
  const Vec decay = set1(c.weight_decay), scale = set1(c.gradient_scale), minus_lr = set1(-c.lr);
  for_lanes(
      size, HONE_LANES {
        const Vec gradient = get(g + i, n) * scale;
        const Vec m1 = fma(beta1, get(m + i, n), rest1 * gradient);
        const Vec v1 = fma(beta2, get(v + i, n), rest2 * gradient * gradient);
        const Vec w0 = get(w + i, n);
        const Vec step = fma(decay, w0, m1 * inv_c1 / (sqrt(v1 * inv_c2) + eps));
        put(m + i, m1, n);
        put(v + i, v1, n);
        put(w + i, fma(minus_lr, step, w0), n);
      });
}

// In 16 sums of doubles (the square of a float is exact there and cannot overflow) and one tree.
double sum_of_squares(const float* g, int64_t size) {
  double s[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) s[k] += static_cast<double>(g[i + k]) * static_cast<double>(g[i + k]);
  }
  for (int k = 0; i < size; ++i, ++k) s[k] += static_cast<double>(g[i]) * static_cast<double>(g[i]);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) s[k] += s[k + half];
  }
  return s[0];
}

}  // namespace

const UpdateKernels kUpdateKernels = {adamw, sum_of_squares};

}  // namespace hone::kernels::cpu::HONE_TARGET
