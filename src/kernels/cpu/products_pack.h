// Packing for the products: panel pieces and row tiles from plain rows. Part of products_target.cc.
#pragma once

#include "kernels/cpu/products_kernels.h"
#include "kernels/cpu/vec.h"

namespace hone::kernels::cpu::HONE_TARGET {
namespace {

HONE_INLINE void f32_to_bf16(uint16_t* out, const float* in, int64_t size) {
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) store_bf16(out + i, load(in + i));
  if (i < size) store_bf16_n(out + i, load_n(in + i, static_cast<int>(size - i)), static_cast<int>(size - i));
}

// One row of `width` elements, zeros beyond `valid`.
template <int kWidth, class T>
HONE_INLINE void copy_row(T* out, const T* in, int64_t valid) {
  if (valid == kWidth) {
    __builtin_memcpy(out, in, kWidth * sizeof(T));
  } else {
    for (int j = 0; j < kWidth; ++j) out[j] = j < valid ? in[j] : T{0};
  }
}

template <int kWidth>
void pack_f32(const PackBlock& block) {
  float* out = static_cast<float*>(block.out);
  const float* in = static_cast<const float*>(block.in);
  for (int64_t d = 0; d < block.depth; ++d) copy_row<kWidth>(out + d * kWidth, in + d * block.stride, block.valid);
}

// Interleaves rows d and d + 1; a missing last row counts as zeros.
template <int kWidth, class In>
void pack_bf16(const PackBlock& block) {
  uint16_t* out = static_cast<uint16_t*>(block.out);
  const In* in = static_cast<const In*>(block.in);
  for (int64_t d = 0; d < block.depth; d += 2, out += 2 * kWidth) {
    uint16_t rows[2][kWidth] = {};
    for (int i = 0; i < 2 && d + i < block.depth; ++i) {
      if constexpr (sizeof(In) == sizeof(float)) {
        f32_to_bf16(rows[i], in + (d + i) * block.stride, block.valid);
      } else {
        copy_row<kWidth>(rows[i], in + (d + i) * block.stride, block.valid);
      }
    }
    for (int j = 0; j < kWidth; ++j) {
      out[2 * j] = rows[0][j];
      out[2 * j + 1] = rows[1][j];
    }
  }
}

// One of four steps after which rows are columns.
HONE_INLINE void zip_rows(Vec (&to)[kLanes], const Vec (&from)[kLanes]) {
  for (int i = 0; i < kLanes / 2; ++i) {
    to[2 * i] = zip_low(from[i], from[i + kLanes / 2]);
    to[2 * i + 1] = zip_high(from[i], from[i + kLanes / 2]);
  }
}

// Rows become columns, kLanes x kLanes lanes at a time; load_lanes(row, lane) gives kLanes lanes of a row from that one
// on, zeros beyond its end.
template <int kWidth, class LoadLanes>
HONE_INLINE void turn(float* out, int64_t valid_rows, int64_t lanes, const LoadLanes& load_lanes) {
  for (int64_t lane = 0; lane < lanes; lane += kLanes) {
    const int64_t count = lanes - lane < kLanes ? lanes - lane : kLanes;
    for (int64_t row = 0; row < kWidth; row += kLanes) {
      Vec a[kLanes], b[kLanes];
      for (int i = 0; i < kLanes; ++i) a[i] = row + i < valid_rows ? load_lanes(row + i, lane) : zero();
      zip_rows(b, a);
      zip_rows(a, b);
      zip_rows(b, a);
      zip_rows(a, b);
      for (int i = 0; i < count; ++i) store(out + (lane + i) * kWidth + row, a[i]);
    }
  }
}

template <int kWidth>
void turn_to_f32(const PackBlock& block) {
  const float* in = static_cast<const float*>(block.in);
  turn<kWidth>(static_cast<float*>(block.out), block.valid, block.depth, [&](int64_t row, int64_t d) {
    const float* from = in + row * block.stride + d;
    return block.depth - d >= kLanes ? load(from) : load_n(from, static_cast<int>(block.depth - d));
  });
}

// A lane is a pair of depths.
template <int kWidth>
void turn_to_bf16(const PackBlock& block) {
  const float* in = static_cast<const float*>(block.in);
  turn<kWidth>(static_cast<float*>(block.out), block.valid, (block.depth + 1) / 2, [&](int64_t row, int64_t pair) {
    const int64_t left = block.depth - 2 * pair;
    uint16_t pairs[2 * kLanes] = {};
    f32_to_bf16(pairs, in + row * block.stride + 2 * pair, left < 2 * kLanes ? left : 2 * kLanes);
    Vec lanes;
    __builtin_memcpy(&lanes, pairs, sizeof(lanes));
    return lanes;
  });
}

}  // namespace
}  // namespace hone::kernels::cpu::HONE_TARGET
