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

// Rows become columns, kLanes depths at a time so that whole cache lines are read.
template <int kWidth>
void turn_to_f32(const PackBlock& block) {
  float* out = static_cast<float*>(block.out);
  const float* in = static_cast<const float*>(block.in);
  for (int64_t d0 = 0; d0 < block.depth; d0 += kLanes) {
    const int64_t count = block.depth - d0 < kLanes ? block.depth - d0 : kLanes;
    for (int64_t j = 0; j < kWidth; ++j) {
      for (int64_t d = d0; d < d0 + count; ++d) out[d * kWidth + j] = j < block.valid ? in[j * block.stride + d] : 0.0f;
    }
  }
}

template <int kWidth>
void turn_to_bf16(const PackBlock& block) {
  uint16_t* out = static_cast<uint16_t*>(block.out);
  const float* in = static_cast<const float*>(block.in);
  for (int64_t d0 = 0; d0 < block.depth; d0 += kLanes) {
    const int64_t count = block.depth - d0 < kLanes ? block.depth - d0 : kLanes;
    for (int64_t j = 0; j < kWidth; ++j) {
      uint16_t row[kLanes] = {};
      if (j < block.valid) f32_to_bf16(row, in + j * block.stride + d0, count);
      for (int64_t d = 0; d < count; d += 2) {
        __builtin_memcpy(out + (d0 + d) * kWidth + 2 * j, row + d, 2 * sizeof(uint16_t));
      }
    }
  }
}

}  // namespace
}  // namespace hone::kernels::cpu::HONE_TARGET
