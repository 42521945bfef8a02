// hone bench no_second_pass, prefix_sharing, dynamic_batch: work that training leaves out, on against off, over 4,096
// tokens of the model of the benchmarks.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_no_second_pass(const Options& options);
int run_prefix_sharing(const Options& options);
int run_dynamic_batch(const Options& options);

}  // namespace hone::bench
