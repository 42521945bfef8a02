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

// Two halves of 16 random bits (the finaliser of a multiplicative hash by Wellons).
HONE_INLINE uint32_t random_bits(MomentRounding rounding, uint32_t i) {
  uint32_t x = rounding.key ^ ((rounding.first + i) * 0x9e3779b9u);
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  x ^= x >> 16;
  return x;
}
void adamw_bf16(float* w, uint16_t* m, uint16_t* v, const float* g, int64_t size, const AdamWCoefficients& c,
                MomentRounding rounding) {
  float m_wide[kMomentBlock], v_wide[kMomentBlock];
  for (int64_t at = 0; at < size; at += kMomentBlock, rounding.first += kMomentBlock) {
    const int n = static_cast<int>(size - at < kMomentBlock ? size - at : kMomentBlock);
    for (int i = 0; i < n; ++i) m_wide[i] = float_of(static_cast<uint32_t>(m[at + i]) << 16);
    for (int i = 0; i < n; ++i) v_wide[i] = float_of(static_cast<uint32_t>(v[at + i]) << 16);
    adamw(w + at, m_wide, v_wide, g + at, n, c);
    for (int i = 0; i < n; ++i) {
      const uint32_t r = random_bits(rounding, static_cast<uint32_t>(i));
      m[at + i] = static_cast<uint16_t>((bits_of(m_wide[i]) + (r & 0xffffu)) >> 16);
      v[at + i] = static_cast<uint16_t>((bits_of(v_wide[i]) + (r >> 16)) >> 16);
    }
  }
}

// A code is x = (y - offset) * scale with y the float of 3 bits of mantissa and an exponent from that of the offset on:
// eight steps in every octave down to the offset, relative to the largest, linear below, and 0 is exact. A first moment
// has a sign and 16 octaves, a second 32.
constexpr int kShift = 20;  // bits of a float's mantissa that are left out
constexpr float kOffsetM = 0x1p-15f, kOffsetV = 0x1p-31f;
constexpr float kTop = 1.875f;    // y of the largest code
constexpr float kLeast = 1e-37f;  // scales whose inverse is a number

HONE_INLINE float from_code(uint32_t code, float offset, float scale) {
  return (float_of(bits_of(offset) + (code << kShift)) - offset) * scale;
}
HONE_INLINE uint32_t to_code(float x, float offset, float inverse, uint32_t random, uint32_t largest) {
  const uint32_t y = bits_of(x * inverse + offset) + (random << (kShift - 16));
  const uint32_t code = (y - bits_of(offset)) >> kShift;
  return code < largest ? code : largest;
}

HONE_INLINE void read_block(float* m, float* v, const uint8_t* m_codes, const uint8_t* v_codes, const float* scales,
                            int n) {
  for (int i = 0; i < n; ++i) {
    const float size = from_code(m_codes[i] & 0x7fu, kOffsetM, scales[0]);
    m[i] = float_of(bits_of(size) | (static_cast<uint32_t>(m_codes[i] & 0x80u) << 24));
  }
  for (int i = 0; i < n; ++i) v[i] = from_code(v_codes[i], kOffsetV, scales[1]);
}

void read_8bit(float* m, float* v, const uint8_t* m_codes, const uint8_t* v_codes, const float* scales, int64_t size) {
  for (int64_t at = 0; at < size; at += kMomentBlock, scales += 2) {
    const int n = static_cast<int>(size - at < kMomentBlock ? size - at : kMomentBlock);
    read_block(m + at, v + at, m_codes + at, v_codes + at, scales, n);
  }
}

// A second moment that is not 0 has a code that is not 0: no update divides by what was rounded away.
HONE_INLINE void write_block(uint8_t* m_codes, uint8_t* v_codes, float* scales, const float* m, const float* v, int n,
                             MomentRounding rounding) {
  uint32_t m_largest = 0, v_largest = 0;  // of magnitudes, as bits: in the order of their values
  for (int i = 0; i < n; ++i) {
    const uint32_t a = bits_of(m[i]) & 0x7fffffffu, b = bits_of(v[i]);
    m_largest = a > m_largest ? a : m_largest;
    v_largest = b > v_largest ? b : v_largest;
  }
  scales[0] = float_of(m_largest) / (kTop - kOffsetM);
  scales[1] = float_of(v_largest) / (kTop - kOffsetV);
  const float m_inverse = scales[0] > kLeast ? 1.0f / scales[0] : 0.0f;
  const float v_inverse = scales[1] > kLeast ? 1.0f / scales[1] : 0.0f;
  for (int i = 0; i < n; ++i) {
    const uint32_t r = random_bits(rounding, static_cast<uint32_t>(i)), u = bits_of(m[i]);
    const uint32_t code = to_code(float_of(u & 0x7fffffffu), kOffsetM, m_inverse, r & 0xffffu, 127);
    m_codes[i] = static_cast<uint8_t>(code | (u >> 24 & 0x80u));
    const uint32_t second = to_code(v[i], kOffsetV, v_inverse, r >> 16, 255);
    v_codes[i] = static_cast<uint8_t>(second == 0 && v[i] > 0 ? 1 : second);
  }
}

void adamw_8bit(float* w, uint8_t* m, uint8_t* v, float* scales, const float* g, int64_t size,
                const AdamWCoefficients& c, MomentRounding rounding) {
  float m_wide[kMomentBlock], v_wide[kMomentBlock];
  for (int64_t at = 0; at < size; at += kMomentBlock, scales += 2, rounding.first += kMomentBlock) {
    const int n = static_cast<int>(size - at < kMomentBlock ? size - at : kMomentBlock);
    read_block(m_wide, v_wide, m + at, v + at, scales, n);
    adamw(w + at, m_wide, v_wide, g + at, n, c);
    write_block(m + at, v + at, scales, m_wide, v_wide, n, rounding);
  }
}

}  // namespace

const UpdateKernels kUpdateKernels = {adamw, sum_of_squares, adamw_bf16, adamw_8bit, read_8bit};

}  // namespace hone::kernels::cpu::HONE_TARGET
