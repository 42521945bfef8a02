// Speed of every scorer on one core: answers of 2 KB each, and the longest time that one hostile answer takes.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_scorers(const Options& options);

}  // namespace hone::bench
