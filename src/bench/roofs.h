// What this machine can do, measured in the same run as the benchmark that is held against it.
#pragma once

#include <string>

#include "bench/peer.h"
#include "core/bf16.h"
#include "kernels/context.h"

namespace hone::bench {

struct Roofs {
  double peak_flops = 0;        // register-resident dot products on all threads
  std::string peak_dtype;       // of peak_flops: bf16 where the processor has it, else f32
  double roof_flops = 0;        // best of ours and the peer over three large warm products, in the run's dtype
  double read_bytes_per_s = 0;  // best reading of 1 GiB by all threads
};

Roofs measure_roofs(kernels::Context& ctx, const Peer& peer, DType dtype);

// Bytes a second, read and written together, of changing 1 GiB in place by all threads; the best of five.
double measure_update_rate(kernels::Context& ctx);

}  // namespace hone::bench
