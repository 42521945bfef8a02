// RMSNorm, per-head norm with rotary embedding, and the rope tables.
#include "kernels/cpu/row_kernels.h"
#include "kernels/cpu/row_vec.h"

namespace hone::kernels::cpu::HONE_TARGET {
namespace {

// The sum over a row of what term(accumulator, i, n) adds. Four accumulators, so that no addition waits for the last.
template <class Term>
HONE_INLINE float sum_terms(int64_t width, const Term& term) {
  Vec s0 = zero(), s1 = zero(), s2 = zero(), s3 = zero();
  int64_t i = 0;
  for (; i + 4 * kLanes <= width; i += 4 * kLanes) {
    s0 = term(s0, i, kLanes);
    s1 = term(s1, i + kLanes, kLanes);
    s2 = term(s2, i + 2 * kLanes, kLanes);
    s3 = term(s3, i + 3 * kLanes, kLanes);
  }
  for (; i + kLanes <= width; i += kLanes) s0 = term(s0, i, kLanes);
  if (i < width) s1 = term(s1, i, static_cast<int>(width - i));
  return sum((s0 + s1) + (s2 + s3));
}
#define HONE_TERM [&](Vec acc, int64_t i, int n) __attribute__((always_inline))

HONE_INLINE float rrms_of(float sum_of_squares, int64_t width, float eps) {
  return 1.0f / __builtin_sqrtf(sum_of_squares / static_cast<float>(width) + eps);
}

template <class Out>
float rms_norm_forward(void* y, const float* x, const float* w, int64_t width, float eps) {
  const float squares = sum_terms(
      width, HONE_TERM {
        const Vec v = get(x + i, n);
        return fma(v, v, acc);
      });
  const float rrms = rrms_of(squares, width, eps);
  const Vec r = set1(rrms);
  for_lanes(
      width, HONE_LANES { put(static_cast<Out*>(y) + i, get(x + i, n) * r * get(w + i, n), n); });
  return rrms;
}

// dx = dresidual + r (u - x r^2 mean(u x)), u = dy w;  dw += dy x r.
void rms_norm_backward(float* dx, float* dw, const float* dy, const float* dresidual, const float* x, const float* w,
                       float rrms, int64_t width) {
  const float dot_ux = sum_terms(
      width, HONE_TERM { return fma(get(dy + i, n) * get(w + i, n), get(x + i, n), acc); });
  const Vec r = set1(rrms);
  const Vec back = set1(-(rrms * rrms) * (dot_ux / static_cast<float>(width)));
  for_lanes(
      width, HONE_LANES {
        const Vec g = get(dy + i, n), v = get(x + i, n);
        put(dx + i, fma(r, fma(v, back, g * get(w + i, n)), get(dresidual + i, n)), n);
        put(dw + i, fma(g, v * r, get(dw + i, n)), n);
      });
}

template <class Out>
void head_norm_rope_forward(void* y, float* rrms, const float* x, const float* w, int64_t num_heads, int64_t pairs,
                            const float* cosine, const float* sine, float eps) {
  for (int64_t h = 0; h < num_heads; ++h) {
    const float* lower = x + h * 2 * pairs;
    const float* upper = lower + pairs;
    Out* y_lower = static_cast<Out*>(y) + h * 2 * pairs;
    Out* y_upper = y_lower + pairs;
    Vec r = set1(1.0f);
    if (w != nullptr) {
      const float squares = sum_terms(
          pairs, HONE_TERM {
            const Vec a = get(lower + i, n), b = get(upper + i, n);
            return fma(b, b, fma(a, a, acc));
          });
      rrms[h] = rrms_of(squares, 2 * pairs, eps);
      r = set1(rrms[h]);
    }
    for_lanes(
        pairs, HONE_LANES {
          Vec a = get(lower + i, n), b = get(upper + i, n);
          if (w != nullptr) {
            a = a * r * get(w + i, n);
            b = b * r * get(w + pairs + i, n);
          }
          const Vec c = get(cosine + i, n), s = get(sine + i, n);
          put(y_lower + i, a * c - b * s, n);
          put(y_upper + i, b * c + a * s, n);
        });
  }
}

// The gradient goes back through the rotation (its transpose), then through the norm as above.
template <class Out>
void head_norm_rope_backward(void* dx, float* dw, const float* dy, const float* x, const float* w, const float* rrms,
                             int64_t num_heads, int64_t pairs, const float* cosine, const float* sine) {
  for (int64_t h = 0; h < num_heads; ++h) {
    const int64_t at = h * 2 * pairs;
    const float *d_lower = dy + at, *d_upper = d_lower + pairs;
    Out *dx_lower = static_cast<Out*>(dx) + at, *dx_upper = dx_lower + pairs;
    const auto turn_back = [&](int64_t i, int n, Vec& g, Vec& k) __attribute__((always_inline)) {
      const Vec a = get(d_lower + i, n), b = get(d_upper + i, n), c = get(cosine + i, n), s = get(sine + i, n);
      g = a * c + b * s;
      k = b * c - a * s;
    };
    if (w == nullptr) {
      for_lanes(
          pairs, HONE_LANES {
            Vec g, k;
            turn_back(i, n, g, k);
            put(dx_lower + i, g, n);
            put(dx_upper + i, k, n);
          });
      continue;
    }
    const float *lower = x + at, *upper = lower + pairs, *w_upper = w + pairs;
    float* dw_upper = dw + pairs;
    const float dot_ux = sum_terms(
        pairs, HONE_TERM {
          Vec g, k;
          turn_back(i, n, g, k);
          return fma(k * get(w_upper + i, n), get(upper + i, n), fma(g * get(w + i, n), get(lower + i, n), acc));
        });
    const Vec r = set1(rrms[h]);
    const Vec back = set1(-(rrms[h] * rrms[h]) * (dot_ux / static_cast<float>(2 * pairs)));
    for_lanes(
        pairs, HONE_LANES {
          Vec g, k;
          turn_back(i, n, g, k);
          const Vec a = get(lower + i, n), b = get(upper + i, n);
          put(dx_lower + i, r * fma(a, back, g * get(w + i, n)), n);
          put(dx_upper + i, r * fma(b, back, k * get(w_upper + i, n)), n);
          put(dw + i, fma(g, a * r, get(dw + i, n)), n);
          put(dw_upper + i, fma(k, b * r, get(dw_upper + i, n)), n);
        });
  }
}

// sin and cos in double, branch-free so that the loop becomes vector code (core/fixed_math.h has the
// general one). x = k pi/2 + r with pi/2 in three parts of 33 bits, so that k * part is exact for |k| < 2^20
// (angles to 1.6e6); |r| <= pi/4, where the Taylor series to r^17 and r^16 are exact to 1e-17. Then a turn by k mod 4.
void rope_table(float* cosine, float* sine, int32_t position, const float* inv_freq, int64_t pairs) {
  constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer in the low bits
  for (int64_t j = 0; j < pairs; ++j) {
    const double x = static_cast<double>(position) * static_cast<double>(inv_freq[j]);
    const double shifted = x * 0.63661977236758138 + kMagic;
    const double k = shifted - kMagic;
    const int64_t turn = __builtin_bit_cast(int64_t, shifted) & 3;
    double r = x - k * 0x1.921fb544p+0;
    r = r - k * 0x1.0b4611a6p-34;
    r = r - k * 0x1.3198a2e037073p-69;
    const double q = r * r;
    double s = 1.0 / 355687428096000.0;
    s = s * q - 1.0 / 1307674368000.0;
    s = s * q + 1.0 / 6227020800.0;
    s = s * q - 1.0 / 39916800.0;
    s = s * q + 1.0 / 362880.0;
    s = s * q - 1.0 / 5040.0;
    s = s * q + 1.0 / 120.0;
    s = s * q - 1.0 / 6.0;
    s = s * q * r + r;
    double c = 1.0 / 20922789888000.0;
    c = c * q - 1.0 / 87178291200.0;
    c = c * q + 1.0 / 479001600.0;
    c = c * q - 1.0 / 3628800.0;
    c = c * q + 1.0 / 40320.0;
    c = c * q - 1.0 / 720.0;
    c = c * q + 1.0 / 24.0;
    c = c * q - 0.5;
    c = c * q + 1.0;
    // Odd turns swap sine and cosine; the cosine is negative in turns 1 and 2, the sine in 2 and 3.
    const int64_t swap = (__builtin_bit_cast(int64_t, s) ^ __builtin_bit_cast(int64_t, c)) & -(turn & 1);
    const int64_t c_bits = __builtin_bit_cast(int64_t, c) ^ swap ^ (((turn + 1) & 2) << 62);
    const int64_t s_bits = __builtin_bit_cast(int64_t, s) ^ swap ^ ((turn & 2) << 62);
    cosine[j] = static_cast<float>(__builtin_bit_cast(double, c_bits));
    sine[j] = static_cast<float>(__builtin_bit_cast(double, s_bits));
  }
}

}  // namespace

const NormKernels kNormKernels = {{rms_norm_forward<float>, rms_norm_forward<uint16_t>},
                                  rms_norm_backward,
                                  {head_norm_rope_forward<float>, head_norm_rope_forward<uint16_t>},
                                  {head_norm_rope_backward<float>, head_norm_rope_backward<uint16_t>},
                                  rope_table};

}  // namespace hone::kernels::cpu::HONE_TARGET
