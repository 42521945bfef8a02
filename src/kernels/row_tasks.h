// Cuts rows that do not depend on each other into tasks. Small work stays one task, on the calling thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/view.h"
#include "kernels/context.h"
#include "kernels/cpu/row_kernels.h"

namespace hone::kernels {

// Elements of one task: some microseconds of work, above the price of waking a thread.
constexpr int64_t kRowTaskElements = 16384;

// body(row) for every row of about `width` elements, each once, on any thread.
template <class Body>
void for_rows(Context& ctx, int64_t rows, int64_t width, const Body& body) {
  const int64_t rows_per_task = std::max<int64_t>(1, kRowTaskElements / std::max<int64_t>(1, width));
  ctx.team.run((rows + rows_per_task - 1) / rows_per_task, [&](int64_t task) {
    const int64_t end = std::min(rows, (task + 1) * rows_per_task);
    for (int64_t row = task * rows_per_task; row < end; ++row) body(row);
  });
}

// Tokens of one tile of a sum over tokens (parameter gradients): fixed, so that the bits do not depend on threads.
constexpr int64_t kTokenTile = 64;

// sum += the sums of all tiles. body(partial, begin, end) adds tokens [begin, end) to a zeroed row; the tiles' rows are
// then added to `sum` in their order.
template <class Body>
void sum_over_tokens(Context& ctx, View<float> sum, int64_t tokens, const Body& body) {
  Arena::Scope scope(ctx.scratch);
  const int64_t tiles = (tokens + kTokenTile - 1) / kTokenTile;
  const View<float> partial = ctx.scratch.take<float>(tiles, sum.size());
  ctx.team.run(tiles, [&](int64_t tile) {
    std::fill_n(partial.row(tile), partial.cols, 0.0f);
    body(partial.row(tile), tile * kTokenTile, std::min(tokens, (tile + 1) * kTokenTile));
  });
  for (int64_t tile = 0; tile < tiles; ++tile)
    ctx.target.rows->elementwise->add(sum.data, partial.row(tile), sum.size());
}

}  // namespace hone::kernels
