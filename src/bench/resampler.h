// Batches by expected length against random order: the time of a kept token, and apart from it that with early stop.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_resampler(const Options& options);

}  // namespace hone::bench
