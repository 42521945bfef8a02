// hone bench chunked_prefill, group_prefill, rollout_memory: what the scheduler and the memory of the engine cost and
// bring, on the whole engine with random weights.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_chunked_prefill(const Options& options);
int run_group_prefill(const Options& options);
int run_rollout_memory(const Options& options);

}  // namespace hone::bench
