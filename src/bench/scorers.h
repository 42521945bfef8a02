// Speed of every scorer on one core, in processor time: answers of 2 KB each, and the longest that one hostile answer
// takes.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_scorers(const Options& options);

}  // namespace hone::bench
