#include "kernels/adamw.h"

#include <algorithm>

#include "core/fixed_math.h"
#include "kernels/cpu/row_kernels.h"

namespace hone::kernels {

namespace {
constexpr int64_t kTile = 32768;  // elements of one task, and of one partial sum: fixed, whatever the threads

int64_t num_tiles(int64_t size) { return (size + kTile - 1) / kTile; }
}  // namespace

cpu::AdamWCoefficients coefficients(const AdamW& options) {
  HONE_CHECK(options.step >= 1, "step {}", options.step);
  cpu::AdamWCoefficients c = {};
  c.lr = options.lr;
  c.beta1 = options.beta1;
  c.one_minus_beta1 = static_cast<float>(1.0 - double{options.beta1});
  c.beta2 = options.beta2;
  c.one_minus_beta2 = static_cast<float>(1.0 - double{options.beta2});
  c.eps = options.eps;
  c.weight_decay = options.weight_decay;
  c.inv_c1 = static_cast<float>(1.0 / (1.0 - fixed::int_pow(options.beta1, options.step)));
  c.inv_c2 = static_cast<float>(1.0 / (1.0 - fixed::int_pow(options.beta2, options.step)));
  c.gradient_scale = options.gradient_scale;
  return c;
}

void adamw_range(const cpu::Target& target, float* w, float* m, float* v, const float* g, int64_t size,
                 const AdamW& options) {
  target.rows->update->adamw(w, m, v, g, size, coefficients(options));
}

double sum_of_squares(Context& ctx, View<const float> g) {
  HONE_CHECK(g.contiguous(), "{}x{}, stride {}", g.rows, g.cols, g.stride);
  Arena::Scope scope(ctx.scratch);
  const int64_t size = g.size(), tiles = num_tiles(size);
  const View<double> partial = ctx.scratch.take<double>(tiles);
  ctx.team.run(tiles, [&](int64_t tile) {
    const int64_t at = tile * kTile;
    partial[tile] = ctx.target.rows->update->sum_of_squares(g.data + at, std::min(kTile, size - at));
  });
  double sum = 0.0;
  for (int64_t tile = 0; tile < tiles; ++tile) sum += partial[tile];
  return sum;
}

}  // namespace hone::kernels
