// The product microkernels: a tile of R rows by one panel, all accumulators in registers.
// Tile heights: AVX-512 8 x 48 uses 24 accumulators, 3 registers of B and one of A of 32; AVX2 6 x 16 uses 12, 2 and
// one of 16. A taller tile would spill, a lower one would load more than it multiplies.
#include "kernels/cpu/products_kernels.h"
#include "kernels/cpu/products_pack.h"
#include "kernels/cpu/products_probe.h"
#include "kernels/cpu/vec.h"

namespace hone::kernels::cpu::HONE_TARGET {
namespace {

#if HONE_TARGET_is_512
constexpr int kVecs = 3, kTileRows = 8, kDepthBlock = 512, kFewRows = 4, kWidePanels = 4;
#elif HONE_TARGET_avx2
constexpr int kVecs = 1, kTileRows = 6, kDepthBlock = 384, kFewRows = 3, kWidePanels = 3;
#else
constexpr int kVecs = 1, kTileRows = 4, kDepthBlock = 384, kFewRows = 3, kWidePanels = 2;
#endif
constexpr int kPanel = kVecs * kLanes;
constexpr int64_t kLineBytes = 64;

// How a product reads its two element types: kStep depths at a time.
struct Float {
  using Element = float;
  using Lanes = Vec;
  static constexpr int kStep = 1;
  HONE_INLINE Lanes load_b(const float* p) { return load(p); }
  HONE_INLINE Lanes set1_a(const float* p) { return set1(*p); }
  HONE_INLINE Vec multiply_add(Lanes a, Lanes b, Vec acc) { return fma(a, b, acc); }
};
struct Pair {
  using Element = uint16_t;
  using Lanes = VecPair;
  static constexpr int kStep = 2;
  HONE_INLINE Lanes load_b(const uint16_t* p) { return load_pairs(p); }
  HONE_INLINE Lanes set1_a(const uint16_t* p) { return set1_pair(p); }
  HONE_INLINE Vec multiply_add(Lanes a, Lanes b, Vec acc) { return dot(acc, a, b); }
};

// R rows by P panels.
template <int R, int P>
struct Accumulators {
  Vec v[R][P * kVecs];
};

// One step of depth: a[r * row_stride] for the rows, one line of each panel piece.
template <class Type, int R, int P>
HONE_INLINE void step(Accumulators<R, P>& acc, const typename Type::Element* a, int64_t row_stride,
                      const typename Type::Element* b, int64_t panel_stride) {
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) {
    typename Type::Lanes b_lanes[kVecs];
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) b_lanes[v] = Type::load_b(b + p * panel_stride + v * kLanes * Type::kStep);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const typename Type::Lanes a_lanes = Type::set1_a(a + r * row_stride);
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) {
        acc.v[r][p * kVecs + v] = Type::multiply_add(a_lanes, b_lanes[v], acc.v[r][p * kVecs + v]);
      }
    }
  }
}

// kTiled: A is a row tile, its rows interleaved per step; else row-major with a_stride.
template <class Type, bool kTiled, int R, int P>
__attribute__((noinline)) void tile(const ProductBlock& block, const typename Type::Element* a,
                                    const typename Type::Element* b, float* c, int64_t cols, const char* next,
                                    int64_t next_lines) {
  using Element = typename Type::Element;
  constexpr int kStep = Type::kStep;
  const int64_t row_stride = kTiled ? kStep : block.a_stride;
  constexpr int64_t kAStep = kTiled ? kTileRows * kStep : kStep;
  constexpr int64_t kBStep = kPanel * kStep;
  Accumulators<R, P> acc;
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < P * kVecs; ++v) {
      const int64_t lanes = cols - v * kLanes;
      const float* p = c + r * block.c_stride + v * kLanes;
      const bool empty = block.sum != ProductSum::go_on || lanes <= 0;
      acc.v[r][v] = empty ? zero() : lanes >= kLanes ? load(p) : load_n(p, static_cast<int>(lanes));
    }
  }
  const int64_t steps = block.depth / kStep;
  const int64_t fetching = next_lines < steps * kVecs ? next_lines / kVecs : steps;  // a step reads kVecs lines of B
  int64_t s = 0;
  for (; s < fetching; ++s, a += kAStep, b += kBStep, next += kVecs * kLineBytes) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) __builtin_prefetch(next + v * kLineBytes, 0, 2);
    step<Type, R, P>(acc, a, row_stride, b, block.panel_stride);
  }
#pragma GCC unroll 4
  for (; s < steps; ++s, a += kAStep, b += kBStep) step<Type, R, P>(acc, a, row_stride, b, block.panel_stride);
  if constexpr (kStep == 2) {
    if (block.depth % 2 != 0) {  // the last element of a row stands alone: nothing beyond it is read
      Element last[R][2];
      for (int r = 0; r < R; ++r) {
        last[r][0] = a[r * row_stride];
        last[r][1] = 0;
      }
      step<Type, R, P>(acc, &last[0][0], 2, b, block.panel_stride);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < P * kVecs; ++v) {
      const int64_t lanes = cols - v * kLanes;
      const int n = static_cast<int>(lanes);
      float* p = c + r * block.c_stride + v * kLanes;
      if (block.sum == ProductSum::add_to && lanes > 0) {
        acc.v[r][v] = (lanes >= kLanes ? load(p) : load_n(p, n)) + acc.v[r][v];
      }
      if (lanes >= kLanes) {
        store(p, acc.v[r][v]);
      } else if (lanes > 0) {
        store_n(p, acc.v[r][v], n);
      }
    }
  }
}

template <class Type, bool kTiled, int R>
HONE_INLINE void tile_of(int64_t rows, const ProductBlock& block, const typename Type::Element* a,
                         const typename Type::Element* b, float* c, int64_t cols, const char* next,
                         int64_t next_lines) {
  if (rows == R) {
    tile<Type, kTiled, R, 1>(block, a, b, c, cols, next, next_lines);
  } else if constexpr (R > 1) {
    tile_of<Type, kTiled, R - 1>(rows, block, a, b, c, cols, next, next_lines);
  }
}

// One panel, all rows.
template <class Type, bool kTiled>
void product_block(const ProductBlock& block) {
  const auto* a = static_cast<const typename Type::Element*>(block.a);
  const auto* b = static_cast<const typename Type::Element*>(block.b);
  const char* next = static_cast<const char*>(block.next);
  const int64_t tiles = (block.rows + kTileRows - 1) / kTileRows;
  const int64_t lines = block.next_bytes / kLineBytes;
  const int64_t tile_elements = kTileRows * ((block.depth + Type::kStep - 1) / Type::kStep * Type::kStep);
  for (int64_t i = 0; i < tiles; ++i) {
    // Row-major tiles are of nearly equal height: 8 rows are 4 + 4 rather than 6 + 2.
    const int64_t begin = kTiled ? i * kTileRows : block.rows * i / tiles;
    const int64_t past = kTiled ? begin + kTileRows : block.rows * (i + 1) / tiles;
    const int64_t end = past < block.rows ? past : block.rows;
    const int64_t line = lines * i / tiles;
    tile_of<Type, kTiled, kTileRows>(end - begin, block, a + (kTiled ? i * tile_elements : begin * block.a_stride), b,
                                     block.c + begin * block.c_stride, block.cols, next + line * kLineBytes,
                                     lines * (i + 1) / tiles - line);
  }
}

// One tile of few rows: the memory system is the limit, and several panels read side by side are several streams to
// it. As many as the registers hold; rows that need a second tile gain nothing from it.
template <class Type, int R, int P>
void few_rows(const ProductBlock& block) {
  const auto* a = static_cast<const typename Type::Element*>(block.a);
  const auto* b = static_cast<const typename Type::Element*>(block.b);
  int64_t col = 0;
  for (; block.cols - col > (P - 1) * kPanel; col += P * kPanel, b += P * block.panel_stride) {
    tile<Type, false, R, P>(block, a, b, block.c + col, block.cols - col, nullptr, 0);
  }
  for (; col < block.cols; col += kPanel, b += block.panel_stride) {
    tile<Type, false, R, 1>(block, a, b, block.c + col, block.cols - col, nullptr, 0);
  }
}

template <class Type>
void few_rows_block(const ProductBlock& block) {
  if (block.rows == 1) few_rows<Type, 1, kWidePanels>(block);
  if (block.rows == 2) few_rows<Type, 2, kWidePanels>(block);
  if (block.rows == 3) few_rows<Type, 3, 2>(block);
  if constexpr (kFewRows > 3) {
    if (block.rows == 4) few_rows<Type, 4, 2>(block);
  }
}

}  // namespace

const ProductKernels kProductKernels = {
    kPanel,
    kTileRows,
    kDepthBlock,
    kFewRows,
    kWidePanels,
    product_block<Float, false>,
    product_block<Pair, false>,
    few_rows_block<Float>,
    few_rows_block<Pair>,
    product_block<Float, true>,
    product_block<Pair, true>,
    turn_to_f32<kPanel>,
    turn_to_bf16<kPanel>,
    unturn_f32<kPanel>,
    turn_pairs<kPanel>,
    split<kPanel>,
    join<kPanel>,
    pack_f32<kPanel>,
    pack_bf16<kPanel, float>,
    pack_bf16<kPanel, uint16_t>,
    pack_f32<kTileRows>,
    pack_bf16<kTileRows, uint16_t>,
    2 * kLanes* kChains,
    4 * kLanes* kChains,
    peak<Float>,
    peak<Pair>,
    read_all,
};

}  // namespace hone::kernels::cpu::HONE_TARGET
