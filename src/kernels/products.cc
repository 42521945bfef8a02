#include "kernels/products.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "kernels/cpu/products_kernels.h"

namespace hone::kernels {

namespace {

using cpu::PackBlock;
using cpu::ProductBlock;
using cpu::ProductKernels;
using cpu::ProductSum;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }
// bf16 is packed in pairs, so its depth is even.
int64_t padded_depth(DType dtype, int64_t depth) { return dtype == DType::bf16 ? round_up(depth, 2) : depth; }

// What stays in the L2 of a core (512 KiB and more) beside the panel piece that passes.
constexpr int64_t kRowBlockBytes = 192 << 10;
constexpr int64_t kOutputBlockColumns = 128;
constexpr int64_t kTileBytes = 8 << 20;  // of dy, packed for dw

// How a product is cut. It depends on the shape alone; a piece of depth goes on from C where it is not added.
struct Tiling {
  int64_t depth_block, row_block, panel_block;  // depth, rows, panels of one task's step
  int64_t row_blocks, panel_blocks;

  int64_t num_tasks() const { return row_blocks * panel_blocks; }
};

Tiling tiling_of(const ProductKernels& kernels, DType dtype, int64_t rows, int64_t panels, int64_t depth,
                 Store store = Store::overwrite) {
  Tiling t;
  t.depth_block = round_up(ceil_div(depth, std::max<int64_t>(1, ceil_div(depth, kernels.depth_block))), 2);
  t.depth_block = store == Store::add ? kAddDepth : std::max<int64_t>(t.depth_block, 2);
  const int64_t max_rows = std::max<int64_t>(kernels.tile_rows, kRowBlockBytes / (t.depth_block * size_bytes(dtype)));
  t.row_block = round_up(ceil_div(rows, ceil_div(rows, max_rows)), kernels.tile_rows);
  t.row_blocks = ceil_div(rows, t.row_block);
  const int64_t wanted_tasks = t.row_blocks == 1 ? 32 : std::max<int64_t>(1, 32 / t.row_blocks);
  t.panel_block = std::max<int64_t>(1, panels / wanted_tasks);
  if (rows <= kernels.few_rows) {
    const int64_t together = rows <= 2 ? kernels.wide_panels : 2;
    t.panel_block = round_up(std::max<int64_t>(1, panels / 16), together);
  }
  if (t.row_blocks > 1) t.panel_block = std::clamp<int64_t>(kOutputBlockColumns / kernels.panel, 1, t.panel_block);
  t.panel_blocks = ceil_div(panels, t.panel_block);
  return t;
}

// Passes over the panel of rows from `first` on in pieces that fit the stack: body(floats, depth begin, depth, high
// halves, low halves or nullptr). bf16 only.
template <class Packed, class Body>
void for_pieces(Packed& packed, int64_t first, const Body& body) {
  constexpr int64_t kPiece = 64, kWidest = 64;
  HONE_CHECK(packed.panel <= kWidest, "panel of {}", packed.panel);
  alignas(64) float piece[kPiece * kWidest];
  using Halves = std::conditional_t<std::is_const_v<Packed>, const uint16_t, uint16_t>;
  const int64_t at = first * padded_depth(DType::bf16, packed.depth);
  auto* const high = reinterpret_cast<Halves*>(packed.data.data()) + at;
  auto* const low = packed.rest.size() > 0 ? packed.rest.data() + at : nullptr;
  for (int64_t d = 0; d < packed.depth; d += kPiece) {
    body(piece, d, std::min(kPiece, packed.depth - d), high + d * packed.panel,
         low != nullptr ? low + d * packed.panel : nullptr);
  }
}

}  // namespace

PackedMatrix PackedMatrix::allocate(const cpu::Target& target, DType dtype, int64_t columns, int64_t depth,
                                    bool exact) {
  HONE_CHECK(columns >= 0 && depth >= 0, "{} columns of depth {}", columns, depth);
  PackedMatrix packed;
  packed.dtype = dtype;
  packed.columns = columns;
  packed.depth = depth;
  packed.panel = target.products->panel;
  const int64_t elements = round_up(columns, packed.panel) * padded_depth(dtype, depth);
  packed.data = Buffer<char>(elements * hone::size_bytes(dtype));
  if (exact && dtype == DType::bf16) packed.rest = Buffer<uint16_t>(elements);
  return packed;
}

void pack(Context& ctx, PackedMatrix& packed, View<const float> w_NK) {
  HONE_CHECK(packed.columns == w_NK.rows, "packed {}x{} from {}x{}", packed.columns, packed.depth, w_NK.rows,
             w_NK.cols);
  ctx.team.run(ceil_div(packed.columns, packed.panel), [&](int64_t p) {
    const int64_t first = p * packed.panel, count = std::min(packed.panel, packed.columns - first);
    pack_rows(ctx.target, packed, w_NK.slice_rows(first, count), first);
  });
}

void pack_rows(const cpu::Target& target, PackedMatrix& packed, View<const float> rows_NK, int64_t first) {
  const ProductKernels& kernels = *target.products;
  HONE_CHECK(packed.panel == kernels.panel, "panel {} on {}", packed.panel, target.name);
  HONE_CHECK(first % packed.panel == 0 && first + rows_NK.rows <= packed.columns && packed.depth == rows_NK.cols,
             "rows {}+{} of {} for {}x{}", first, rows_NK.rows, rows_NK.cols, packed.columns, packed.depth);
  const int64_t panel_bytes = packed.panel * padded_depth(packed.dtype, packed.depth) * size_bytes(packed.dtype);
  const auto turn = packed.dtype == DType::f32 ? kernels.turn_f32 : kernels.turn_f32_to_bf16;
  for (int64_t n = 0; n < rows_NK.rows; n += packed.panel) {
    const int64_t valid = std::min(packed.panel, rows_NK.rows - n);
    char* const panel = packed.data.data() + (first + n) / packed.panel * panel_bytes;
    if (packed.rest.size() == 0) {
      turn(PackBlock{panel, rows_NK.row(n), rows_NK.stride, valid, packed.depth});
      continue;
    }
    for_pieces(packed, first + n, [&](float* piece, int64_t d, int64_t depth, uint16_t* high, uint16_t* low) {
      kernels.turn_f32(PackBlock{piece, rows_NK.row(n) + d, rows_NK.stride, valid, depth});
      kernels.split(high, low, piece, depth);
    });
  }
}

void unpack_rows(const cpu::Target& target, const PackedMatrix& packed, View<float> rows_NK, int64_t first) {
  const ProductKernels& kernels = *target.products;
  HONE_CHECK(packed.panel == kernels.panel, "panel {} on {}", packed.panel, target.name);
  HONE_CHECK(first % packed.panel == 0 && first + rows_NK.rows <= packed.columns && packed.depth == rows_NK.cols,
             "rows {}+{} of {} for {}x{}", first, rows_NK.rows, rows_NK.cols, packed.columns, packed.depth);
  const int64_t panel_bytes = packed.panel * packed.depth * size_bytes(DType::f32);
  for (int64_t n = 0; n < rows_NK.rows; n += packed.panel) {
    const int64_t valid = std::min(packed.panel, rows_NK.rows - n);
    if (packed.dtype == DType::f32) {
      kernels.unturn_f32(PackBlock{rows_NK.row(n), packed.data.data() + (first + n) / packed.panel * panel_bytes,
                                   rows_NK.stride, valid, packed.depth});
      continue;
    }
    for_pieces(packed, first + n,
               [&](float* piece, int64_t d, int64_t depth, const uint16_t* high, const uint16_t* low) {
                 kernels.join(piece, high, low, depth);
                 kernels.unturn_f32(PackBlock{rows_NK.row(n) + d, piece, rows_NK.stride, valid, depth});
               });
  }
}

void unpack_row(const PackedMatrix& packed, int64_t row, float* out_K) {
  HONE_CHECK(row >= 0 && row < packed.columns, "row {} of {}", row, packed.columns);
  const int64_t step = packed.panel, lane = row % packed.panel;
  const int64_t at = row / packed.panel * step * padded_depth(packed.dtype, packed.depth);
  if (packed.dtype == DType::f32) {
    const float* panel = reinterpret_cast<const float*>(packed.data.data()) + at + lane;
    for (int64_t d = 0; d < packed.depth; ++d) out_K[d] = panel[d * step];
    return;
  }
  const auto* high = reinterpret_cast<const uint16_t*>(packed.data.data());
  const uint16_t* low = packed.rest.size() > 0 ? packed.rest.data() : nullptr;
  for (int64_t d = 0; d < packed.depth; ++d) {
    const int64_t i = at + (d / 2 * step + lane) * 2 + d % 2;
    const uint32_t rest = low != nullptr ? low[i] : 0;
    out_K[d] = std::bit_cast<float>(((uint32_t{high[i]} - (rest > 0x8000u)) << 16) | rest);
  }
}

void transpose(Context& ctx, PackedMatrix& transposed, const PackedMatrix& packed) {
  const ProductKernels& kernels = *ctx.target.products;
  HONE_CHECK(packed.panel == kernels.panel, "panel {} on {}", packed.panel, ctx.target.name);
  const int64_t panel = packed.panel, N = packed.columns, K = packed.depth, bytes = size_bytes(packed.dtype);
  const int64_t depth = padded_depth(packed.dtype, N), source_depth = padded_depth(packed.dtype, K);
  transposed.dtype = packed.dtype;
  transposed.columns = K;
  transposed.depth = N;
  transposed.panel = panel;
  const int64_t size = round_up(K, panel) * depth * bytes;
  if (transposed.data.size() < size) {
    transposed.data = Buffer<char>();  // the old one goes first
    transposed.data = Buffer<char>(size);
  }
  const auto turn = packed.dtype == DType::f32 ? kernels.turn_f32 : kernels.turn_pairs;
  ctx.team.run(ceil_div(K, panel), [&](int64_t q) {
    const int64_t k = q * panel;
    for (int64_t n = 0; n < N; n += panel) {
      turn(PackBlock{transposed.data.data() + (q * panel * depth + n * panel) * bytes,
                     packed.data.data() + (n * source_depth + k * panel) * bytes, panel, std::min(panel, K - k),
                     std::min(panel, N - n)});
    }
  });
}

void pack_transposed(Context& ctx, PackedMatrix& packed, View<const float> w_NK) {
  const ProductKernels& kernels = *ctx.target.products;
  HONE_CHECK(packed.panel == kernels.panel, "panel {} on {}", packed.panel, ctx.target.name);
  HONE_CHECK(packed.columns == w_NK.cols && packed.depth == w_NK.rows, "packed {}x{} from transposed {}x{}",
             packed.columns, packed.depth, w_NK.rows, w_NK.cols);
  const int64_t panel_bytes = packed.panel * padded_depth(packed.dtype, packed.depth) * size_bytes(packed.dtype);
  const auto copy = packed.dtype == DType::f32 ? kernels.panel_f32 : kernels.panel_f32_to_bf16;
  ctx.team.run(ceil_div(packed.columns, packed.panel), [&](int64_t p) {
    const int64_t k = p * packed.panel;
    copy(PackBlock{packed.data.data() + p * panel_bytes, w_NK.data + k, w_NK.stride,
                   std::min(packed.panel, packed.columns - k), packed.depth});
  });
}

void product(Context& ctx, View<float> y_TN, ConstComputeView x_TD, const PackedMatrix& packed, Store store) {
  const ProductKernels& kernels = *ctx.target.products;
  HONE_CHECK(packed.panel == kernels.panel, "panel {} on {}", packed.panel, ctx.target.name);
  HONE_CHECK(x_TD.dtype == packed.dtype, "x holds {}, the weights {}", name(x_TD.dtype), name(packed.dtype));
  HONE_CHECK(x_TD.rows == y_TN.rows && x_TD.cols == packed.depth && y_TN.cols == packed.columns,
             "y {}x{}, x {}x{}, packed {}x{}", y_TN.rows, y_TN.cols, x_TD.rows, x_TD.cols, packed.columns,
             packed.depth);
  const int64_t depth = packed.depth;
  if (y_TN.size() == 0 || (depth == 0 && store == Store::add)) return;
  const int64_t panels = ceil_div(packed.columns, packed.panel);
  const int64_t step_bytes = packed.panel * size_bytes(packed.dtype);  // of one depth of a panel
  const int64_t panel_bytes = step_bytes * padded_depth(packed.dtype, depth);
  const Tiling t = tiling_of(kernels, packed.dtype, x_TD.rows, panels, depth, store);
  const bool f32 = packed.dtype == DType::f32;
  const auto rows = f32 ? kernels.rows_f32 : kernels.rows_bf16;
  const auto few_rows = f32 ? kernels.few_f32 : kernels.few_bf16;
  ctx.team.run(t.num_tasks(), [&](int64_t task) {
    const int64_t row = task / t.panel_blocks * t.row_block;
    const int64_t first = task % t.panel_blocks * t.panel_block;
    const int64_t last = std::min(first + t.panel_block, panels);
    const auto block_at = [&](int64_t panel, int64_t d, int64_t block_depth) {
      ProductBlock block;
      block.a = x_TD.at(row, d);
      block.a_stride = x_TD.stride;
      block.rows = std::min(t.row_block, x_TD.rows - row);
      block.b = packed.data.data() + panel * panel_bytes + d * step_bytes;
      block.panel_stride = panel_bytes / size_bytes(packed.dtype);
      block.depth = block_depth;
      block.c = y_TN.row(row) + panel * packed.panel;
      block.c_stride = y_TN.stride;
      block.cols = std::min(packed.panel, packed.columns - panel * packed.panel);
      block.sum = store == Store::add ? ProductSum::add_to : d > 0 ? ProductSum::go_on : ProductSum::begin;
      block.next = nullptr;
      block.next_bytes = 0;
      return block;
    };
    if (x_TD.rows <= kernels.few_rows) {
      const int64_t piece = store == Store::add ? kAddDepth : depth;
      int64_t d = 0;
      do {
        ProductBlock block = block_at(first, d, std::min(piece, depth - d));
        block.cols = std::min(last * packed.panel, packed.columns) - first * packed.panel;
        few_rows(block);
        d += piece;
      } while (d < depth);
      return;
    }
    // One block of rows: each panel once from end to end, as it lies in memory. Many: the rows' piece of depth stays
    // in L2 while the panels pass.
    const bool along_memory = t.row_blocks == 1;
    const int64_t pieces = std::max<int64_t>(1, ceil_div(depth, t.depth_block));
    for (int64_t i = 0; i < pieces * (last - first); ++i) {
      const int64_t panel = first + (along_memory ? i / pieces : i % (last - first));
      const int64_t d = (along_memory ? i % pieces : i / (last - first)) * t.depth_block;
      ProductBlock block = block_at(panel, d, std::min(t.depth_block, depth - d));
      // One or two tiles wait for memory anyway, and there the processor's own prefetching does better.
      if (block.rows > 2 * kernels.tile_rows) block.next_bytes = block.depth * step_bytes;
      block.next = static_cast<const char*>(block.b) + (along_memory ? block.depth * step_bytes : panel_bytes);
      rows(block);
    }
  });
}

namespace {

struct DwScratch {
  int64_t part_rows;  // of dw at a time: the tiles of a vocabulary would take as much memory as its logits
  int64_t panels_bytes, tiles_bytes;
};
DwScratch dw_scratch(const ProductKernels& kernels, DType dtype, int64_t T, int64_t N, int64_t K) {
  const int64_t panels = ceil_div(K, kernels.panel);
  const Tiling t = tiling_of(kernels, dtype, N, panels, T);
  const int64_t row_bytes = std::min(padded_depth(dtype, T), t.depth_block) * size_bytes(dtype);
  const int64_t part_rows = std::max<int64_t>(1, kTileBytes / (t.row_block * row_bytes)) * t.row_block;
  return {part_rows, panels * kernels.panel * row_bytes,
          round_up(std::min(N, part_rows), kernels.tile_rows) * row_bytes};
}

}  // namespace

int64_t product_dw_scratch_bytes(const cpu::Target& target, DType dtype, int64_t T, int64_t N, int64_t K) {
  if (T == 0) return 0;
  const DwScratch sizes = dw_scratch(*target.products, dtype, T, N, K);
  return sizes.panels_bytes + sizes.tiles_bytes;
}

void product_dw(Context& ctx, View<float> dw_NK, ConstComputeView dy_TN, ConstComputeView x_TK) {
  const ProductKernels& kernels = *ctx.target.products;
  HONE_CHECK(dy_TN.dtype == x_TK.dtype, "dy holds {}, x {}", name(dy_TN.dtype), name(x_TK.dtype));
  HONE_CHECK(dy_TN.rows == x_TK.rows && dw_NK.rows == dy_TN.cols && dw_NK.cols == x_TK.cols,
             "dw {}x{}, dy {}x{}, x {}x{}", dw_NK.rows, dw_NK.cols, dy_TN.rows, dy_TN.cols, x_TK.rows, x_TK.cols);
  if (dw_NK.size() == 0 || x_TK.rows == 0) return;
  const bool f32 = x_TK.dtype == DType::f32;
  const auto pack_panel = f32 ? kernels.panel_f32 : kernels.panel_bf16;
  const auto pack_tile = f32 ? kernels.tile_f32 : kernels.tile_bf16;
  const auto tiles_product = f32 ? kernels.tiles_f32 : kernels.tiles_bf16;
  const int64_t panels = ceil_div(dw_NK.cols, kernels.panel);
  const Tiling t = tiling_of(kernels, x_TK.dtype, dw_NK.rows, panels, x_TK.rows);
  const DwScratch sizes = dw_scratch(kernels, x_TK.dtype, x_TK.rows, dw_NK.rows, dw_NK.cols);
  const int64_t part_rows = sizes.part_rows;
  Arena::Scope scope(ctx.scratch);
  char* x_panels = static_cast<char*>(ctx.scratch.take_bytes(sizes.panels_bytes));
  char* dy_tiles = static_cast<char*>(ctx.scratch.take_bytes(sizes.tiles_bytes));
  // Tokens upwards, a block of them at a time: the sums stand in dw between blocks.
  for (int64_t token = 0; token < x_TK.rows; token += t.depth_block) {
    const int64_t depth = std::min(t.depth_block, x_TK.rows - token);
    // Packed pieces are as long as this block, so that tiles and panels lie one after the other.
    const int64_t scale = padded_depth(x_TK.dtype, depth) * size_bytes(x_TK.dtype);
    constexpr int64_t kTogether = 8;
    for (int64_t part = 0; part < dw_NK.rows; part += part_rows) {
      const int64_t rows = std::min(part_rows, dw_NK.rows - part), tiles = ceil_div(rows, kernels.tile_rows);
      const int64_t panel_packs = part == 0 ? ceil_div(panels, kTogether) : 0, tile_packs = ceil_div(tiles, kTogether);
      ctx.team.run(panel_packs + tile_packs, [&](int64_t task) {
        const bool is_panel = task < panel_packs;
        const ConstComputeView& from = is_panel ? x_TK : dy_TN;
        const int64_t width = is_panel ? kernels.panel : kernels.tile_rows, offset = is_panel ? 0 : part;
        const int64_t first = (is_panel ? task : task - panel_packs) * kTogether;
        const int64_t last = std::min(first + kTogether, is_panel ? panels : tiles);
        for (int64_t i = first; i < last; ++i) {
          char* out = (is_panel ? x_panels : dy_tiles) + i * width * scale;
          const int64_t column = offset + i * width;
          (is_panel ? pack_panel : pack_tile)(
              PackBlock{out, from.at(token, column), from.stride, std::min(width, from.cols - column), depth});
        }
      });
      ctx.team.run(ceil_div(rows, t.row_block) * t.panel_blocks, [&](int64_t task) {
        const int64_t row = task / t.panel_blocks * t.row_block;
        const int64_t first = task % t.panel_blocks * t.panel_block;
        for (int64_t panel = first; panel < std::min(first + t.panel_block, panels); ++panel) {
          ProductBlock block;
          block.a = dy_tiles + row * scale;
          block.a_stride = 0;
          block.rows = std::min(t.row_block, rows - row);
          block.b = x_panels + panel * kernels.panel * scale;
          block.panel_stride = 0;
          block.depth = depth;
          block.c = dw_NK.row(part + row) + panel * kernels.panel;
          block.c_stride = dw_NK.stride;
          block.cols = std::min<int64_t>(kernels.panel, dw_NK.cols - panel * kernels.panel);
          block.sum = ProductSum::go_on;
          block.next = nullptr;
          block.next_bytes = 0;
          tiles_product(block);
        }
      });
    }
  }
}

}  // namespace hone::kernels
