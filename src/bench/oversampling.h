// Over-sampling with carry-over against waiting for every answer of a step: answers a second.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_oversampling(const Options& options);

}  // namespace hone::bench
