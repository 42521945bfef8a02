// The matrix products over the shapes of SmolLM2-135M with cold weights, beside the peer's.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_gemm(const Options& options);

}  // namespace hone::bench
