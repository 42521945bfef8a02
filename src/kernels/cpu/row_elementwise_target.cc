// SwiGLU, conversion to the compute dtype and addition.
#include "kernels/cpu/row_kernels.h"
#include "kernels/cpu/row_vec.h"

namespace hone::kernels::cpu::HONE_TARGET {
namespace {

// silu(g) = g / (1 + e^-g): e^-g is held at e^88.3, so nothing overflows on the way.
template <class Out>
void swiglu_forward(void* out, const float* gate, const float* up, int64_t width) {
  for_lanes(
      width, HONE_LANES {
        const Vec g = get(gate + i, n);
        put(static_cast<Out*>(out) + i, g / (set1(1.0f) + exp(zero() - g)) * get(up + i, n), n);
      });
}

// silu'(g) = s + g s (1 - s) with s = 1 / (1 + e^-g).
template <class Out>
void swiglu_backward(void* d_gate, void* d_up, const float* dout, const float* gate, const float* up, int64_t width) {
  const Vec one = set1(1.0f);
  for_lanes(
      width, HONE_LANES {
        const Vec g = get(gate + i, n), d = get(dout + i, n);
        const Vec s = one / (one + exp(zero() - g));
        const Vec silu = g * s;
        put(static_cast<Out*>(d_gate) + i, d * get(up + i, n) * fma(silu, one - s, s), n);
        put(static_cast<Out*>(d_up) + i, d * silu, n);
      });
}

template <class Out>
void convert(void* y, const float* x, int64_t width) {
  for_lanes(
      width, HONE_LANES { put(static_cast<Out*>(y) + i, get(x + i, n), n); });
}

void add(float* y, const float* x, int64_t width) {
  for_lanes(
      width, HONE_LANES { put(y + i, get(y + i, n) + get(x + i, n), n); });
}

}  // namespace

const ElementwiseKernels kElementwiseKernels = {{swiglu_forward<float>, swiglu_forward<uint16_t>},
                                                {swiglu_backward<float>, swiglu_backward<uint16_t>},
                                                {convert<float>, convert<uint16_t>},
                                                add};

}  // namespace hone::kernels::cpu::HONE_TARGET
