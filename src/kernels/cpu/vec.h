// Vec: 16 floats, the same 16 virtual lanes on every instruction set (1 zmm, 2 ymm or a plain array), so that every
// sum over lanes has one order everywhere. VecPair: 16 pairs of bf16 for dot products.
// Only for *_target.cc files, which are compiled once per target with HONE_TARGET set. Includes no library code:
// an inline function of a library compiled here with -mavx512f could be the copy the linker keeps for all.
#pragma once

#include <stdint.h>

#if HONE_TARGET_avx2 || HONE_TARGET_avx512 || HONE_TARGET_avx512bf16
#include <immintrin.h>
#endif

#if HONE_TARGET_avx512 || HONE_TARGET_avx512bf16
#define HONE_TARGET_is_512 1
#endif

#define HONE_INLINE static inline __attribute__((always_inline))

namespace hone::kernels::cpu::HONE_TARGET {
namespace {

constexpr int kLanes = 16;

HONE_INLINE float float_of(uint32_t u) { return __builtin_bit_cast(float, u); }
HONE_INLINE uint32_t bits_of(float x) { return __builtin_bit_cast(uint32_t, x); }

#if HONE_TARGET_avx2 || HONE_TARGET_is_512
// The one tree of all horizontal sums: lanes i and i+8, then +4, +2, +1.
HONE_INLINE float tree8(__m256 x) {
  const __m128 a = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 b = _mm_add_ps(a, _mm_movehl_ps(a, a));
  return _mm_cvtss_f32(_mm_add_ss(b, _mm_shuffle_ps(b, b, 1)));
}
// The same tree for the maximum, the lower lane first: it decides between zeros of both signs, and for NaN.
HONE_INLINE float max_tree8(__m256 x) {
  const __m128 a = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 b = _mm_max_ps(a, _mm_movehl_ps(a, a));
  return _mm_cvtss_f32(_mm_max_ss(b, _mm_shuffle_ps(b, b, 1)));
}
#endif

#if HONE_TARGET_is_512

struct Vec {
  __m512 v;
};
struct VecInt {  // 16 signed 32-bit integers
  __m512i v;
};
HONE_INLINE Vec zero() { return {_mm512_setzero_ps()}; }
HONE_INLINE Vec set1(float x) { return {_mm512_set1_ps(x)}; }
HONE_INLINE Vec load(const float* p) { return {_mm512_loadu_ps(p)}; }
HONE_INLINE void store(float* p, Vec a) { _mm512_storeu_ps(p, a.v); }
// The first n (0 to 16) lanes; the others read as zero and are not written.
HONE_INLINE __mmask16 mask_of(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
HONE_INLINE Vec load_n(const float* p, int n) { return {_mm512_maskz_loadu_ps(mask_of(n), p)}; }
HONE_INLINE void store_n(float* p, Vec a, int n) { _mm512_mask_storeu_ps(p, mask_of(n), a.v); }
HONE_INLINE Vec operator+(Vec a, Vec b) { return {_mm512_add_ps(a.v, b.v)}; }
HONE_INLINE Vec operator-(Vec a, Vec b) { return {_mm512_sub_ps(a.v, b.v)}; }
HONE_INLINE Vec operator*(Vec a, Vec b) { return {_mm512_mul_ps(a.v, b.v)}; }
HONE_INLINE Vec operator/(Vec a, Vec b) { return {_mm512_div_ps(a.v, b.v)}; }
HONE_INLINE Vec fma(Vec a, Vec b, Vec c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }  // a * b + c, rounded once
HONE_INLINE Vec sqrt(Vec a) { return {_mm512_sqrt_ps(a.v)}; }
// x86 rule on every target: a > b ? a : b (b when either is NaN).
HONE_INLINE Vec max(Vec a, Vec b) { return {_mm512_max_ps(a.v, b.v)}; }
HONE_INLINE Vec min(Vec a, Vec b) { return {_mm512_min_ps(a.v, b.v)}; }
HONE_INLINE Vec load_bf16(const uint16_t* p) {
  return {_mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))), 16))};
}
HONE_INLINE Vec load_bf16_n(const uint16_t* p, int n) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask_of(n), p)), 16))};
}
// Round to nearest even, the same bits as core/bf16.h (a NaN stays a NaN).
HONE_INLINE __m256i to_bf16_bits(Vec a) {
  const __m512i u = _mm512_castps_si512(a.v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
  __m512i r = _mm512_srli_epi32(_mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))), 16);
  const __mmask16 nan = _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q);
  r = _mm512_mask_or_epi32(r, nan, _mm512_srli_epi32(u, 16), _mm512_set1_epi32(0x40));
  return _mm512_cvtepi32_epi16(r);
}
HONE_INLINE void store_bf16(uint16_t* p, Vec a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), to_bf16_bits(a)); }
HONE_INLINE void store_bf16_n(uint16_t* p, Vec a, int n) { _mm256_mask_storeu_epi16(p, mask_of(n), to_bf16_bits(a)); }
HONE_INLINE VecInt bits(Vec a) { return {_mm512_castps_si512(a.v)}; }
HONE_INLINE Vec from_bits(VecInt a) { return {_mm512_castsi512_ps(a.v)}; }
HONE_INLINE VecInt set1_int(int32_t x) { return {_mm512_set1_epi32(x)}; }
HONE_INLINE VecInt operator+(VecInt a, VecInt b) { return {_mm512_add_epi32(a.v, b.v)}; }
HONE_INLINE VecInt operator-(VecInt a, VecInt b) { return {_mm512_sub_epi32(a.v, b.v)}; }
HONE_INLINE VecInt operator&(VecInt a, VecInt b) { return {_mm512_and_si512(a.v, b.v)}; }
HONE_INLINE VecInt shift_left_23(VecInt a) { return {_mm512_slli_epi32(a.v, 23)}; }
// a < b ? x : y, lane by lane (false when unordered).
HONE_INLINE Vec select_less(Vec a, Vec b, Vec x, Vec y) {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ), y.v, x.v)};
}
// a0 b0 a1 b1 ... of the first, and of the last eight lanes.
HONE_INLINE Vec zip_low(Vec a, Vec b) {
  const __m512i lanes = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  return {_mm512_permutex2var_ps(a.v, lanes, b.v)};
}
HONE_INLINE Vec zip_high(Vec a, Vec b) {
  const __m512i lanes = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  return {_mm512_permutex2var_ps(a.v, lanes, b.v)};
}
HONE_INLINE float sum(Vec a) {
  return tree8(_mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1)));
}
HONE_INLINE float max_lane(Vec a) {
  return max_tree8(_mm256_max_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1)));
}

struct VecPair {
  __m512i v;
};
HONE_INLINE VecPair load_pairs(const uint16_t* p) { return {_mm512_loadu_si512(p)}; }  // 32 bf16
HONE_INLINE VecPair set1_pair(const uint16_t* p) {  // one pair (2 bf16) in every lane
  int32_t pair;
  __builtin_memcpy(&pair, p, sizeof(pair));  // p is aligned to 2 bytes only
  return {_mm512_set1_epi32(pair)};
}
// acc + a.hi * b.hi, then + a.lo * b.lo: the order of VDPBF16PS (lo = first element in memory).
HONE_INLINE Vec dot(Vec acc, VecPair a, VecPair b) {
#if HONE_TARGET_avx512bf16
  return {_mm512_dpbf16_ps(acc.v, (__m512bh)a.v, (__m512bh)b.v)};
#else
  const __m512i high = _mm512_set1_epi32(static_cast<int32_t>(0xffff0000u));
  const __m512 a1 = _mm512_castsi512_ps(_mm512_and_si512(a.v, high));
  const __m512 b1 = _mm512_castsi512_ps(_mm512_and_si512(b.v, high));
  const __m512 a0 = _mm512_castsi512_ps(_mm512_slli_epi32(a.v, 16));
  const __m512 b0 = _mm512_castsi512_ps(_mm512_slli_epi32(b.v, 16));
  return {_mm512_fmadd_ps(a0, b0, _mm512_fmadd_ps(a1, b1, acc.v))};
#endif
}

#elif HONE_TARGET_avx2

struct Vec {
  __m256 lo, hi;
};
struct VecInt {
  __m256i lo, hi;
};
HONE_INLINE Vec zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
HONE_INLINE Vec set1(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
HONE_INLINE Vec load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
HONE_INLINE void store(float* p, Vec a) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}
HONE_INLINE __m256i mask_of(int n) {  // n may be negative or above 8
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
HONE_INLINE Vec load_n(const float* p, int n) {
  if (n <= 8) return {_mm256_maskload_ps(p, mask_of(n)), _mm256_setzero_ps()};
  return {_mm256_loadu_ps(p), _mm256_maskload_ps(p + 8, mask_of(n - 8))};
}
HONE_INLINE void store_n(float* p, Vec a, int n) {
  if (n <= 8) {
    _mm256_maskstore_ps(p, mask_of(n), a.lo);
  } else {
    _mm256_storeu_ps(p, a.lo);
    _mm256_maskstore_ps(p + 8, mask_of(n - 8), a.hi);
  }
}
HONE_INLINE Vec operator+(Vec a, Vec b) { return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)}; }
HONE_INLINE Vec operator-(Vec a, Vec b) { return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)}; }
HONE_INLINE Vec operator*(Vec a, Vec b) { return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)}; }
HONE_INLINE Vec operator/(Vec a, Vec b) { return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)}; }
HONE_INLINE Vec fma(Vec a, Vec b, Vec c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
HONE_INLINE Vec sqrt(Vec a) { return {_mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi)}; }
HONE_INLINE Vec max(Vec a, Vec b) { return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)}; }
HONE_INLINE Vec min(Vec a, Vec b) { return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)}; }
HONE_INLINE __m256 widen(__m128i x) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16)); }
HONE_INLINE Vec load_bf16(const uint16_t* p) {
  return {widen(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
          widen(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 8)))};
}
HONE_INLINE Vec load_bf16_n(const uint16_t* p, int n) {
  uint16_t t[16] = {};
  for (int i = 0; i < n; ++i) t[i] = p[i];
  return load_bf16(t);
}
HONE_INLINE __m256i to_bf16_bits(__m256 x) {
  const __m256i u = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
  const __m256i r = _mm256_srli_epi32(_mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff))), 16);
  const __m256i quiet = _mm256_or_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(0x40));
  return _mm256_blendv_epi8(r, quiet, _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
}
HONE_INLINE void store_bf16(uint16_t* p, Vec a) {
  const __m256i packed = _mm256_packus_epi32(to_bf16_bits(a.lo), to_bf16_bits(a.hi));  // interleaved by halves
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permute4x64_epi64(packed, 0xd8));
}
HONE_INLINE void store_bf16_n(uint16_t* p, Vec a, int n) {
  uint16_t t[16];
  store_bf16(t, a);
  for (int i = 0; i < n; ++i) p[i] = t[i];
}
HONE_INLINE VecInt bits(Vec a) { return {_mm256_castps_si256(a.lo), _mm256_castps_si256(a.hi)}; }
HONE_INLINE Vec from_bits(VecInt a) { return {_mm256_castsi256_ps(a.lo), _mm256_castsi256_ps(a.hi)}; }
HONE_INLINE VecInt set1_int(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
HONE_INLINE VecInt operator+(VecInt a, VecInt b) {
  return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}
HONE_INLINE VecInt operator-(VecInt a, VecInt b) {
  return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)};
}
HONE_INLINE VecInt operator&(VecInt a, VecInt b) {
  return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)};
}
HONE_INLINE VecInt shift_left_23(VecInt a) { return {_mm256_slli_epi32(a.lo, 23), _mm256_slli_epi32(a.hi, 23)}; }
HONE_INLINE Vec select_less(Vec a, Vec b, Vec x, Vec y) {
  return {_mm256_blendv_ps(y.lo, x.lo, _mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ)),
          _mm256_blendv_ps(y.hi, x.hi, _mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ))};
}
HONE_INLINE Vec zip8(__m256 a, __m256 b) {
  const __m256 even = _mm256_unpacklo_ps(a, b), odd = _mm256_unpackhi_ps(a, b);
  return {_mm256_permute2f128_ps(even, odd, 0x20), _mm256_permute2f128_ps(even, odd, 0x31)};
}
HONE_INLINE Vec zip_low(Vec a, Vec b) { return zip8(a.lo, b.lo); }
HONE_INLINE Vec zip_high(Vec a, Vec b) { return zip8(a.hi, b.hi); }
HONE_INLINE float sum(Vec a) { return tree8(_mm256_add_ps(a.lo, a.hi)); }
HONE_INLINE float max_lane(Vec a) { return max_tree8(_mm256_max_ps(a.lo, a.hi)); }

struct VecPair {
  __m256i lo, hi;
};
HONE_INLINE VecPair load_pairs(const uint16_t* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 16))};
}
HONE_INLINE VecPair set1_pair(const uint16_t* p) {
  int32_t pair;
  __builtin_memcpy(&pair, p, sizeof(pair));  // p is aligned to 2 bytes only
  const __m256i x = _mm256_set1_epi32(pair);
  return {x, x};
}
HONE_INLINE __m256 dot8(__m256 acc, __m256i a, __m256i b) {
  const __m256i high = _mm256_set1_epi32(static_cast<int32_t>(0xffff0000u));
  const __m256 a1 = _mm256_castsi256_ps(_mm256_and_si256(a, high));
  const __m256 b1 = _mm256_castsi256_ps(_mm256_and_si256(b, high));
  const __m256 a0 = _mm256_castsi256_ps(_mm256_slli_epi32(a, 16));
  const __m256 b0 = _mm256_castsi256_ps(_mm256_slli_epi32(b, 16));
  return _mm256_fmadd_ps(a0, b0, _mm256_fmadd_ps(a1, b1, acc));
}
HONE_INLINE Vec dot(Vec acc, VecPair a, VecPair b) { return {dot8(acc.lo, a.lo, b.lo), dot8(acc.hi, a.hi, b.hi)}; }

#else  // scalar

struct Vec {
  float v[16];
};
struct VecInt {
  int32_t v[16];
};
HONE_INLINE float fma1(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#define HONE_EACH(T, expr)                          \
  T r;                                              \
  for (int i = 0; i < kLanes; ++i) r.v[i] = (expr); \
  return r
HONE_INLINE Vec zero() { HONE_EACH(Vec, 0.0f); }
HONE_INLINE Vec set1(float x) { HONE_EACH(Vec, x); }
HONE_INLINE Vec load(const float* p) { HONE_EACH(Vec, p[i]); }
HONE_INLINE void store(float* p, Vec a) {
  for (int i = 0; i < kLanes; ++i) p[i] = a.v[i];
}
HONE_INLINE Vec load_n(const float* p, int n) { HONE_EACH(Vec, i < n ? p[i] : 0.0f); }
HONE_INLINE void store_n(float* p, Vec a, int n) {
  for (int i = 0; i < n; ++i) p[i] = a.v[i];
}
HONE_INLINE Vec operator+(Vec a, Vec b) { HONE_EACH(Vec, a.v[i] + b.v[i]); }
HONE_INLINE Vec operator-(Vec a, Vec b) { HONE_EACH(Vec, a.v[i] - b.v[i]); }
HONE_INLINE Vec operator*(Vec a, Vec b) { HONE_EACH(Vec, a.v[i] * b.v[i]); }
HONE_INLINE Vec operator/(Vec a, Vec b) { HONE_EACH(Vec, a.v[i] / b.v[i]); }
HONE_INLINE Vec fma(Vec a, Vec b, Vec c) { HONE_EACH(Vec, fma1(a.v[i], b.v[i], c.v[i])); }
HONE_INLINE Vec sqrt(Vec a) { HONE_EACH(Vec, __builtin_sqrtf(a.v[i])); }
HONE_INLINE Vec max(Vec a, Vec b) { HONE_EACH(Vec, a.v[i] > b.v[i] ? a.v[i] : b.v[i]); }
HONE_INLINE Vec min(Vec a, Vec b) { HONE_EACH(Vec, a.v[i] < b.v[i] ? a.v[i] : b.v[i]); }
HONE_INLINE uint16_t bf16_of(float x) {
  const uint32_t u = bits_of(x);
  if (x != x) return static_cast<uint16_t>((u >> 16) | 0x40u);
  return static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}
HONE_INLINE Vec load_bf16(const uint16_t* p) { HONE_EACH(Vec, float_of(static_cast<uint32_t>(p[i]) << 16)); }
HONE_INLINE Vec load_bf16_n(const uint16_t* p, int n) {
  HONE_EACH(Vec, i < n ? float_of(static_cast<uint32_t>(p[i]) << 16) : 0.0f);
}
HONE_INLINE void store_bf16(uint16_t* p, Vec a) {
  for (int i = 0; i < kLanes; ++i) p[i] = bf16_of(a.v[i]);
}
HONE_INLINE void store_bf16_n(uint16_t* p, Vec a, int n) {
  for (int i = 0; i < n; ++i) p[i] = bf16_of(a.v[i]);
}
HONE_INLINE VecInt bits(Vec a) { HONE_EACH(VecInt, static_cast<int32_t>(bits_of(a.v[i]))); }
HONE_INLINE Vec from_bits(VecInt a) { HONE_EACH(Vec, float_of(static_cast<uint32_t>(a.v[i]))); }
HONE_INLINE VecInt set1_int(int32_t x) { HONE_EACH(VecInt, x); }
HONE_INLINE VecInt operator+(VecInt a, VecInt b) {
  HONE_EACH(VecInt, static_cast<int32_t>(static_cast<uint32_t>(a.v[i]) + static_cast<uint32_t>(b.v[i])));
}
HONE_INLINE VecInt operator-(VecInt a, VecInt b) {
  HONE_EACH(VecInt, static_cast<int32_t>(static_cast<uint32_t>(a.v[i]) - static_cast<uint32_t>(b.v[i])));
}
HONE_INLINE VecInt operator&(VecInt a, VecInt b) { HONE_EACH(VecInt, a.v[i] & b.v[i]); }
HONE_INLINE VecInt shift_left_23(VecInt a) {
  HONE_EACH(VecInt, static_cast<int32_t>(static_cast<uint32_t>(a.v[i]) << 23));
}
HONE_INLINE Vec select_less(Vec a, Vec b, Vec x, Vec y) { HONE_EACH(Vec, a.v[i] < b.v[i] ? x.v[i] : y.v[i]); }
HONE_INLINE Vec zip_low(Vec a, Vec b) { HONE_EACH(Vec, i % 2 == 0 ? a.v[i / 2] : b.v[i / 2]); }
HONE_INLINE Vec zip_high(Vec a, Vec b) { HONE_EACH(Vec, i % 2 == 0 ? a.v[8 + i / 2] : b.v[8 + i / 2]); }
HONE_INLINE float sum(Vec a) {
  float t[8];
  for (int i = 0; i < 8; ++i) t[i] = a.v[i] + a.v[i + 8];
  for (int i = 0; i < 4; ++i) t[i] = t[i] + t[i + 4];
  return (t[0] + t[2]) + (t[1] + t[3]);
}
HONE_INLINE float max_lane(Vec a) {
  float t[8];
  for (int i = 0; i < 8; ++i) t[i] = a.v[i] > a.v[i + 8] ? a.v[i] : a.v[i + 8];
  for (int i = 0; i < 4; ++i) t[i] = t[i] > t[i + 4] ? t[i] : t[i + 4];
  const float x = t[0] > t[2] ? t[0] : t[2], y = t[1] > t[3] ? t[1] : t[3];
  return x > y ? x : y;
}

struct VecPair {
  uint16_t lo[16], hi[16];
};
HONE_INLINE VecPair load_pairs(const uint16_t* p) {
  VecPair r;
  for (int i = 0; i < kLanes; ++i) {
    r.lo[i] = p[2 * i];
    r.hi[i] = p[2 * i + 1];
  }
  return r;
}
HONE_INLINE VecPair set1_pair(const uint16_t* p) {
  VecPair r;
  for (int i = 0; i < kLanes; ++i) {
    r.lo[i] = p[0];
    r.hi[i] = p[1];
  }
  return r;
}
HONE_INLINE Vec dot(Vec acc, VecPair a, VecPair b) {
  const auto f = [](uint16_t x) { return float_of(static_cast<uint32_t>(x) << 16); };
  HONE_EACH(Vec, fma1(f(a.lo[i]), f(b.lo[i]), fma1(f(a.hi[i]), f(b.hi[i]), acc.v[i])));
}
#undef HONE_EACH

#endif

// e^x to about 1 ulp: x = n ln 2 + r with |r| <= ln2/2, a polynomial of degree 7 for e^r, times 2^n.
// Below -87.3 the result is exactly 0; above 88.3 it is held at e^88.3; NaN stays NaN.
HONE_INLINE Vec exp(Vec x) {
  const Vec lowest = set1(-87.3f);
  const Vec magic = set1(12582912.0f);                   // 1.5 * 2^23: adding it rounds to an integer
  const Vec clamped = max(lowest, min(set1(88.3f), x));  // min and max return x when it is NaN
  const Vec shifted = fma(clamped, set1(1.44269504088896341f), magic);
  const Vec n = shifted - magic;
  Vec r = fma(n, set1(-0.693359375f), clamped);
  r = fma(n, set1(2.12194440e-4f), r);
  Vec p = set1(1.9875691500e-4f);
  p = fma(p, r, set1(1.3981999507e-3f));
  p = fma(p, r, set1(8.3334519073e-3f));
  p = fma(p, r, set1(4.1665795894e-2f));
  p = fma(p, r, set1(1.6666665459e-1f));
  p = fma(p, r, set1(5.0000001201e-1f));
  p = fma(p, r * r, r) + set1(1.0f);
  // 2^n by its bits; a product, not an integer sum, so that a NaN with any payload stays a NaN.
  const Vec power = from_bits(shift_left_23(bits(shifted) - set1_int(0x4b400000 - 127)));
  return select_less(x, lowest, zero(), p * power);
}

}  // namespace
}  // namespace hone::kernels::cpu::HONE_TARGET
