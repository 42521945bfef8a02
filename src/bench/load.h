// hone bench load: how fast a model folder becomes a decoder that is ready to sample, against how fast the same files
// are read from page cache by the same threads.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_load(const Options& options);

}  // namespace hone::bench
