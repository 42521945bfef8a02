#include "bench/gemm.h"

#include <cmath>

#include "bench/linear_bench.h"
#include "bench/opening.h"

namespace hone::bench {

namespace {

// The products of one token in SmolLM2-135M: 30 layers and the head.
struct ModelProduct {
  const char* name;
  int64_t N, K;
  int times;
};
constexpr ModelProduct kProducts[] = {
    {"qkv 960x576", 960, 576, 30},    {"o 576x576", 576, 576, 30},       {"gate_up 3072x576", 3072, 576, 30},
    {"down 576x1536", 576, 1536, 30}, {"head 49152x576", 49152, 576, 1},
};

struct GemmCase {
  const char* name;
  HonePeerKind kind;
  int64_t T;
};
constexpr GemmCase kGemmCases[] = {
    {"linear_m1", kHonePeerForward, 1},     {"linear_m8", kHonePeerForward, 8}, {"linear_m64", kHonePeerForward, 64},
    {"linear_m512", kHonePeerForward, 512}, {"linear_dx", kHonePeerDx, 4096},   {"linear_dw", kHonePeerDw, 4096},
};

constexpr double kColdBytes = 200e6;
constexpr double kGemmSeconds = 0.02;

// Seconds of one call of ours and of the peer's, weights from memory.
Medians measure_gemm(kernels::Context& ctx, const Peer& peer, const Options& options, DType dtype, const GemmCase& c,
                     const ModelProduct& p, const Roofs& roofs) {
  const double weight_bytes = static_cast<double>(p.N * p.K * size_bytes(dtype));
  const int copies = c.kind == kHonePeerDw ? 1 : static_cast<int>(std::ceil(kColdBytes / weight_bytes)) + 1;
  LinearBench bench(ctx, peer, dtype, {c.kind, c.T, p.N, p.K}, copies);
  const double expected =
      std::max(LinearShape{c.kind, c.T, p.N, p.K}.flops() / roofs.roof_flops, weight_bytes / roofs.read_bytes_per_s);
  const int calls = std::max(1, static_cast<int>(kGemmSeconds / expected));
  const int repetitions = expected > 0.3 ? std::min(options.repetitions, 3) : options.repetitions;
  return bench.measure(repetitions, calls);
}

}  // namespace

int run_gemm(const Options& options) {
  Opening opening(options);
  kernels::Context& ctx = opening.ctx;
  const Peer& peer = opening.peer;
  const DType dtype = opening.dtype;
  Line& line = opening.line;
  line.peer = peer.name();
  for (const GemmCase& c : kGemmCases) {
    line.name = c.name;
    line.seconds = line.flops = line.bytes = 0;
    line.parts.clear();
    double peer_seconds = 0;
    bool has_peer = true;
    for (const ModelProduct& p : kProducts) {
      const Medians m = measure_gemm(ctx, peer, options, dtype, c, p, line.roofs);
      Part part{p.name, m.ours, std::nullopt, LinearShape{c.kind, c.T, p.N, p.K}.flops()};
      if (m.peers > 0) part.peer_seconds = m.peers;
      has_peer = has_peer && part.peer_seconds.has_value();
      line.seconds += p.times * m.ours;
      peer_seconds += p.times * m.peers;
      line.flops += p.times * part.flops;
      line.bytes += p.times * static_cast<double>(p.N * p.K * size_bytes(DType::bf16));
      line.parts.push_back(part);
    }
    line.peer_seconds.reset();
    line.ratio.reset();
    if (has_peer) {
      line.peer_seconds = peer_seconds;
      line.ratio = peer_seconds / line.seconds;
    }
    options.print(options.json ? line.json() : line.text());
  }
  return 0;
}

}  // namespace hone::bench
