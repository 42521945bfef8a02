// The one product of attention: c[m][n] (=, +=) sum over k upwards of a(m, k) * b[k][n], one accumulator per element,
// so that the cut into register tiles never shows in the bits. Only for attention*_target.cc.
#pragma once

#include "kernels/cpu/row_vec.h"
#include "kernels/cpu/vec.h"

namespace hone::kernels::cpu::HONE_TARGET {
namespace {

HONE_INLINE Vec load_any(const float* p) { return load(p); }
HONE_INLINE Vec load_any(const uint16_t* p) { return load_bf16(p); }
HONE_INLINE Vec load_any_n(const float* p, int n) { return load_n(p, n); }
HONE_INLINE Vec load_any_n(const uint16_t* p, int n) { return load_bf16_n(p, n); }

// Where the accumulators start: 0, c, or c[m] * factors[m].
enum class Start { zero, add, scaled };

struct Left {  // a(m, k) = data[m * row + k * step]
  const float* data;
  int64_t row, step;
};
template <class T, bool kAhead = false>
struct Right {  // b[k] = data + k * step
  const T* data;
  int64_t step;
  int64_t ahead = 0;  // kAhead: while b is read, as much memory is fetched from data + ahead, to be read next
};
struct Out {
  float* data;
  int64_t row;           // at least the columns rounded up to whole vectors
  const float* factors;  // for Start::scaled
};

// kVecs vectors per row are chosen to fill 16 ymm (12 accumulators) or 32 zmm.
constexpr int kMaxRows = 6;
#if HONE_TARGET_is_512
constexpr int vectors_for(int rows) { return rows <= 2 ? 4 : 2; }
#else
constexpr int vectors_for(int rows) { return rows == 1 ? 4 : rows <= 3 ? 2 : 1; }
#endif

// tail = lanes of the last vector to be read from b (kLanes: all).
template <int kRows, int kVecs, Start kStart, bool kTail, class T, bool kAhead>
HONE_INLINE void multiply_tile(Left a, Right<T, kAhead> b, int64_t depth, Out c, int tail) {
  Vec acc[kRows][kVecs];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) {
      if constexpr (kStart == Start::zero) {
        acc[r][v] = zero();
      } else {
        acc[r][v] = load(c.data + r * c.row + v * kLanes);
        if constexpr (kStart == Start::scaled) acc[r][v] = acc[r][v] * set1(c.factors[r]);
      }
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    Vec x[kVecs];
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) {
      x[v] = kTail ? load_any_n(b.data + v * kLanes, tail) : load_any(b.data + v * kLanes);
      if constexpr (kAhead) __builtin_prefetch(b.data + b.ahead + v * kLanes);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Vec y = set1(a.data[r * a.row]);
#pragma GCC unroll 8
      for (int v = 0; v < kVecs; ++v) acc[r][v] = fma(y, x[v], acc[r][v]);
    }
    a.data += a.step;
    b.data += b.step;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) store(c.data + r * c.row + v * kLanes, acc[r][v]);
  }
}

template <int kRows, Start kStart, class T, bool kAhead>
__attribute__((noinline)) void multiply_rows(Left a, Right<T, kAhead> b, int64_t depth, Out c, int64_t columns) {
  constexpr int kVecs = vectors_for(kRows);
  int64_t n = 0;
  const auto right = [&] { return Right<T, kAhead>{b.data + n, b.step, b.ahead}; };
  const auto out = [&] { return Out{c.data + n, c.row, c.factors}; };
  for (; n + kVecs * kLanes <= columns; n += kVecs * kLanes) {
    multiply_tile<kRows, kVecs, kStart, false>(a, right(), depth, out(), kLanes);
  }
  if constexpr (kVecs > 2) {
    for (; n + 2 * kLanes <= columns; n += 2 * kLanes) {
      multiply_tile<kRows, 2, kStart, false>(a, right(), depth, out(), kLanes);
    }
  }
  if constexpr (kVecs > 1) {
    for (; n + kLanes <= columns; n += kLanes) {
      multiply_tile<kRows, 1, kStart, false>(a, right(), depth, out(), kLanes);
    }
  }
  if (n < columns) {
    multiply_tile<kRows, 1, kStart, true>(a, right(), depth, out(), static_cast<int>(columns - n));
  }
}

// rows in groups of at most kMaxRows, as even as can be.
template <Start kStart, class T, bool kAhead>
void multiply(int64_t rows, Left a, Right<T, kAhead> b, int64_t depth, Out c, int64_t columns) {
  if (rows <= 0) return;
  const int64_t groups = (rows + kMaxRows - 1) / kMaxRows;
  const int64_t size = rows / groups, larger = rows % groups;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t count = size + (g < larger ? 1 : 0);
    switch (count) {
      case 1:
        multiply_rows<1, kStart>(a, b, depth, c, columns);
        break;
      case 2:
        multiply_rows<2, kStart>(a, b, depth, c, columns);
        break;
      case 3:
        multiply_rows<3, kStart>(a, b, depth, c, columns);
        break;
      case 4:
        multiply_rows<4, kStart>(a, b, depth, c, columns);
        break;
      case 5:
        multiply_rows<5, kStart>(a, b, depth, c, columns);
        break;
      default:
        multiply_rows<6, kStart>(a, b, depth, c, columns);
        break;
    }
    a.data += count * a.row;
    c.data += count * c.row;
    if constexpr (kStart == Start::scaled) c.factors += count;
  }
}

// The first n lanes of a, the others replaced by `rest` whatever they hold.
HONE_INLINE Vec first_lanes(Vec a, int64_t n, Vec rest) {
  static const float kIndex[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return select_less(load(kIndex), set1(static_cast<float>(n)), a, rest);
}

// A row of n elements as floats, zeros up to whole vectors.
template <class T>
void widen_row(float* out, const T* in, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, load_any(in + i));
  if (i < n) store(out + i, load_any_n(in + i, static_cast<int>(n - i)));
}

// out = in * factor, n elements; in is readable up to whole vectors.
template <class T>
void store_scaled(T* out, const float* in, float factor, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const int count = static_cast<int>(n - i < kLanes ? n - i : kLanes);
    put(out + i, load(in + i) * set1(factor), count);
  }
}

}  // namespace
}  // namespace hone::kernels::cpu::HONE_TARGET
