// Raw-pointer kernels of the products operations, one table per target.
// A panel piece is [depth][panel] floats or [ceil(depth / 2)][panel][2] bf16; a row tile is the same with tile_rows in
// place of panel. Both are padded with zeros. bf16 travels as its 16 bits.
#pragma once

#include <stdint.h>

namespace hone::kernels::cpu {

enum class ProductSum {
  begin,   // C = the sum from 0
  go_on,   // C = the sum from C
  add_to,  // C += the sum from 0
};

// C[rows, cols] (=, +=) A[rows, depth] x one panel piece: each element one accumulator, depth upwards.
struct ProductBlock {
  const void* a;     // row-major, or row tiles one after the other, each of the piece's depth
  int64_t a_stride;  // elements from row to row (row-major only)
  int64_t rows;
  const void* b;         // the panel piece
  int64_t panel_stride;  // elements from panel to panel
  int64_t depth;
  float* c;
  int64_t c_stride;
  int64_t cols;  // 1 to panel; few_*: any number, over panels side by side
  ProductSum sum;
  const void* next;  // memory wanted soon: fetched towards L2 meanwhile, spread over the tiles
  int64_t next_bytes;
};

// Source rows to a panel piece or row tile: width columns of which the first `valid` exist.
struct PackBlock {
  void* out;
  const void* in;
  int64_t stride;  // elements from row to row of `in`
  int64_t valid;
  int64_t depth;
};

struct ProductKernels {
  int panel;        // columns of a panel
  int tile_rows;    // rows of a tile
  int depth_block;  // depth of a panel piece that stays near while the rows pass by; even
  int few_rows;     // rows up to which few_* is the way
  int wide_panels;  // panels that few_* reads side by side, at most

  void (*rows_f32)(const ProductBlock&);  // A row-major
  void (*rows_bf16)(const ProductBlock&);
  void (*few_f32)(const ProductBlock&);  // A row-major of at most few_rows rows
  void (*few_bf16)(const ProductBlock&);
  void (*tiles_f32)(const ProductBlock&);  // A in row tiles
  void (*tiles_bf16)(const ProductBlock&);

  // Panel pieces from in[valid][depth]: rows become columns.
  void (*turn_f32)(const PackBlock&);
  void (*turn_f32_to_bf16)(const PackBlock&);
  // The way back, in[depth][panel] to out[valid][depth]; stride is that of `out`.
  void (*unturn_f32)(const PackBlock&);
  // Pairs: a block of in[ceil(valid / 2)][panel][2] to out[ceil(depth / 2)][panel][2]: rows become columns.
  void (*turn_pairs)(const PackBlock&);
  // A panel piece of floats to one of bf16 and the rest of each float, and the way back; low may be nullptr: zeros.
  void (*split)(uint16_t* high, uint16_t* low, const float* piece, int64_t depth);
  void (*join)(float* piece, const uint16_t* high, const uint16_t* low, int64_t depth);
  // Panel pieces from in[depth][valid].
  void (*panel_f32)(const PackBlock&);
  void (*panel_f32_to_bf16)(const PackBlock&);
  void (*panel_bf16)(const PackBlock&);
  // Row tiles from in[depth][valid].
  void (*tile_f32)(const PackBlock&);
  void (*tile_bf16)(const PackBlock&);

  // Probes for benchmarks. peak_*: steps of peak_step_flops registers-only arithmetic; seed is 64 floats.
  int64_t peak_step_flops_f32, peak_step_flops_bf16;
  float (*peak_f32)(int64_t steps, const float* seed);
  float (*peak_bf16)(int64_t steps, const float* seed);
  float (*read_all)(const float* data, int64_t size);
};

namespace scalar {
extern const ProductKernels kProductKernels;
}
namespace avx2 {
extern const ProductKernels kProductKernels;
}
namespace avx512 {
extern const ProductKernels kProductKernels;
}
namespace avx512bf16 {
extern const ProductKernels kProductKernels;
}

}  // namespace hone::kernels::cpu
