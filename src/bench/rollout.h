// The engine's work of a step: a prompt of 512 tokens, and decoding 64, 8 sequences and one at a context of 256. Beside
// each, by turns with it, its products and its attention alone: the rest of a step is everything else.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_rollout(const Options& options);

}  // namespace hone::bench
