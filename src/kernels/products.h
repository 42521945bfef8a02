// Matrix products on prepacked weights, all three directions of a linear layer y = x W^T with W [N, K] on disk order.
// T = packed tokens (rows), N = outputs, K = inputs. Products read the compute dtype and accumulate in float.
// Law 1: an output element is one accumulator that walks the depth upwards, or one for each kAddDepth terms of what is
// added, whatever the number of rows; bf16 walks pairs (odd element first, as VDPBF16PS). Law 2: work is cut into tiles
// by shape, which cuts no such sum.
// In float32 the bits are the same on every target.
#pragma once

#include "core/buffer.h"
#include "core/view.h"
#include "kernels/context.h"

namespace hone::kernels {

// A matrix as the products read it: panels of `panel` columns, each [depth][panel] (bf16: [depth / 2][panel][2]),
// edges padded with zeros. The panel width is the target's.
struct PackedMatrix {
  DType dtype = DType::f32;
  int64_t columns = 0;  // outputs of the product
  int64_t depth = 0;    // length of its sums
  int64_t panel = 0;
  Buffer<char> data;
  // Of exact bf16: the lower halves of the floats whose rounded upper halves are `data`, in the same order. A float
  // halfway between two bf16 is held one unit in the last place nearer to the one it rounds to; every other is exact.
  Buffer<uint16_t> rest;

  // exact: unpacks to the floats that were packed. Float32 always does.
  static PackedMatrix allocate(const cpu::Target& target, DType dtype, int64_t columns, int64_t depth,
                               bool exact = false);
  bool exact() const { return dtype == DType::f32 || rest.size() > 0; }
  int64_t size_bytes() const { return data.size_bytes() + rest.size_bytes(); }
};

enum class Store { overwrite, add };
// Terms of a sum that is added: each such piece begins at 0, for y may be many times larger than what is added to it
// (the residual stream of a language model), and then every term of one long sum would be rounded as y is.
inline constexpr int64_t kAddDepth = 384;

// Packs W for y = x W^T: columns = N, depth = K.
void pack(Context& ctx, PackedMatrix& packed, View<const float> w_NK);
// The same for the panels that some rows of W fill, from row `first` on, on the calling thread alone: for a loader that
// has just made them. `first` is a multiple of packed.panel, and so is their number but at the end of W.
void pack_rows(const cpu::Target& target, PackedMatrix& packed, View<const float> rows_NK, int64_t first);
// The way back: rows [first, first + rows_NK.rows) as floats; bf16 that is not exact as it was rounded.
void unpack_rows(const cpu::Target& target, const PackedMatrix& packed, View<float> rows_NK, int64_t first);
// One row, any: for look-ups.
void unpack_row(const PackedMatrix& packed, int64_t row, float* out_K);
// Packs W for dx = dy W: columns = K, depth = N.
void pack_transposed(Context& ctx, PackedMatrix& packed, View<const float> w_NK);

// The same out of what pack() made, in the compute dtype; `transposed` is shaped for it and its memory grows if need
// be.
void transpose(Context& ctx, PackedMatrix& transposed, const PackedMatrix& packed);

// y[t][n] (=, +=) sum over d of x[t][d] * packed[d][n]. With Store::add y[t][n] gets the sums of kAddDepth terms
// each, one after the other.
// Forward with pack(), dx with transpose() or pack_transposed().
void product(Context& ctx, View<float> y_TN, ConstComputeView x_TD, const PackedMatrix& packed, Store store);

// dw[n][k] += sum over t upwards of dy[t][n] * x[t][k]; the accumulator starts from dw.
void product_dw(Context& ctx, View<float> dw_NK, ConstComputeView dy_TN, ConstComputeView x_TK);

// Bytes of scratch that product_dw takes.
int64_t product_dw_scratch_bytes(const cpu::Target& target, DType dtype, int64_t T, int64_t N, int64_t K);

}  // namespace hone::kernels
