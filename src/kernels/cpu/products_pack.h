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

// a[i][j] becomes a[j][i]; b is room.
HONE_INLINE void turn_lanes(Vec (&a)[kLanes], Vec (&b)[kLanes]) {
  zip_rows(b, a);
  zip_rows(a, b);
  zip_rows(b, a);
  zip_rows(a, b);
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
      turn_lanes(a, b);
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

template <int kWidth>
void unturn_f32(const PackBlock& block) {
  const float* in = static_cast<const float*>(block.in);
  float* out = static_cast<float*>(block.out);
  for (int64_t d = 0; d < block.depth; d += kLanes) {
    const int count = static_cast<int>(block.depth - d < kLanes ? block.depth - d : kLanes);
    for (int64_t n = 0; n < block.valid; n += kLanes) {
      Vec a[kLanes], b[kLanes];
      for (int i = 0; i < kLanes; ++i) a[i] = i < count ? load(in + (d + i) * kWidth + n) : zero();
      turn_lanes(a, b);
      const int64_t rows = block.valid - n < kLanes ? block.valid - n : kLanes;
      for (int64_t i = 0; i < rows; ++i) {
        float* to = out + (n + i) * block.stride + d;
        count == kLanes ? store(to, a[i]) : store_n(to, a[i], count);
      }
    }
  }
}

template <int kWidth>
void turn_pairs(const PackBlock& block) {
  const uint16_t* in = static_cast<const uint16_t*>(block.in);
  uint16_t* out = static_cast<uint16_t*>(block.out);
  for (int64_t d = 0; d < block.depth; d += 2, out += 2 * kWidth) {
    const int64_t second = d + 1 < block.depth ? 2 : 0;  // a missing last row counts as zeros
    for (int64_t column = 0; column < kWidth; ++column) {
      const uint16_t* from = in + (column / 2 * kWidth + d) * 2 + column % 2;
      out[2 * column] = column < block.valid ? from[0] : uint16_t{0};
      out[2 * column + 1] = column < block.valid && second != 0 ? from[second] : uint16_t{0};
    }
  }
}

// Rounds to nearest even, as everywhere; a float halfway between two bf16 moves one unit towards the one it rounds to,
// so that the rest alone says whether the upper half was counted up.
template <int kWidth>
void split(uint16_t* high, uint16_t* low, const float* piece, int64_t depth) {
  for (int64_t d = 0; d < depth; ++d) {
    for (int64_t j = 0; j < kWidth; ++j) {
      uint32_t u;
      __builtin_memcpy(&u, piece + d * kWidth + j, sizeof(u));
      if ((u & 0x7fffffffu) > 0x7f800000u) u = (u | 0x400000u) & 0xffff0000u;  // a NaN stays a NaN
      const uint32_t odd = (u >> 16) & 1u;
      u += (u & 0xffffu) == 0x8000u ? 2 * odd - 1 : 0;
      const int64_t at = (d / 2 * kWidth + j) * 2 + d % 2;
      high[at] = static_cast<uint16_t>((u >> 16) + ((u & 0xffffu) > 0x8000u));
      low[at] = static_cast<uint16_t>(u);
    }
  }
  for (int64_t j = 0; depth % 2 != 0 && j < kWidth; ++j) {
    high[(depth / 2 * kWidth + j) * 2 + 1] = 0;
    low[(depth / 2 * kWidth + j) * 2 + 1] = 0;
  }
}

template <int kWidth>
void join(float* piece, const uint16_t* high, const uint16_t* low, int64_t depth) {
  for (int64_t d = 0; d < depth; ++d) {
    for (int64_t j = 0; j < kWidth; ++j) {
      const int64_t at = (d / 2 * kWidth + j) * 2 + d % 2;
      const uint32_t rest = low != nullptr ? low[at] : 0u;
      const uint32_t u = ((static_cast<uint32_t>(high[at]) - (rest > 0x8000u)) << 16) | rest;
      __builtin_memcpy(piece + d * kWidth + j, &u, sizeof(u));
    }
  }
}

}  // namespace
}  // namespace hone::kernels::cpu::HONE_TARGET
