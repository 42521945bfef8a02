#include "bench/roofs.h"

#include <algorithm>

#include "bench/linear_bench.h"
#include "kernels/cpu/products_kernels.h"

namespace hone::bench {

namespace {

double peak_flops(kernels::Context& ctx) {
  const auto& kernels = *ctx.target.products;
  const bool bf16_dot = ctx.target.has_bf16_dot;
  const auto peak = bf16_dot ? kernels.peak_bf16 : kernels.peak_f32;
  const int64_t step_flops = bf16_dot ? kernels.peak_step_flops_bf16 : kernels.peak_step_flops_f32;
  constexpr int64_t kSteps = 1'000'000;
  const int threads = ctx.team.num_threads();
  float seed[64];
  for (int i = 0; i < 64; ++i) seed[i] = 1.0f + 0x1p-10f * static_cast<float>(i);
  std::vector<float> results(static_cast<size_t>(threads));
  double best = 0;
  for (int i = 0; i < 8; ++i) {
    const double seconds = seconds_of(
        [&] { ctx.team.run(threads, [&](int64_t task) { results[static_cast<size_t>(task)] = peak(kSteps, seed); }); });
    best = std::max(best, static_cast<double>(threads * kSteps * step_flops) / seconds);
  }
  return best;
}

// 1 GiB, in tasks. Not a power of two: the streams of a reader must not meet in the same cache sets and memory banks.
constexpr int64_t kTasks = 999, kTaskFloats = (int64_t{1} << 28) / kTasks / 1024 * 1024 + 1024 + 64;

double read_rate(kernels::Context& ctx) {
  Buffer<float> memory(kTasks * kTaskFloats);
  // Memory that nobody has written is one page of zeros that the system shows everywhere.
  ctx.team.run(kTasks, [&](int64_t task) { std::fill_n(memory.data() + task * kTaskFloats, kTaskFloats, 1.0f); });
  std::vector<float> results(kTasks);
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const double seconds = seconds_of([&] {
      ctx.team.run(kTasks, [&](int64_t task) {
        results[static_cast<size_t>(task)] =
            ctx.target.products->read_all(memory.data() + task * kTaskFloats, kTaskFloats);
      });
    });
    best = std::max(best, static_cast<double>(memory.size_bytes()) / seconds);
  }
  return best;
}

}  // namespace

Roofs measure_roofs(kernels::Context& ctx, const Peer& peer, DType dtype) {
  Roofs roofs;
  roofs.peak_flops = peak_flops(ctx);
  roofs.peak_dtype = name(ctx.target.has_bf16_dot ? DType::bf16 : DType::f32);
  // Rows x depth x columns.
  constexpr int64_t kShapes[][3] = {{2048, 1536, 576}, {2048, 576, 1536}, {1024, 4096, 1024}};
  for (const auto& [T, K, N] : kShapes) {
    LinearBench product(ctx, peer, dtype, {kHonePeerForward, T, N, K}, 1);
    roofs.roof_flops = std::max(roofs.roof_flops, product.best_flops(5));
  }
  roofs.read_bytes_per_s = read_rate(ctx);
  return roofs;
}

double measure_update_rate(kernels::Context& ctx) {
  Buffer<float> memory(kTasks * kTaskFloats);
  double best = 0;
  for (int i = 0; i < 6; ++i) {  // the first one takes the memory from the system
    const double seconds = seconds_of([&] {
      ctx.team.run(kTasks, [&](int64_t task) {
        float* x = memory.data() + task * kTaskFloats;
        for (int64_t k = 0; k < kTaskFloats; ++k) x[k] += 1.0f;
      });
    });
    best = std::max(best, 2 * static_cast<double>(memory.size_bytes()) / seconds);
  }
  return best;
}

}  // namespace hone::bench
