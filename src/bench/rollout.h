// The engine's work of a step: a prompt of 512 tokens, and decoding 64, 8 sequences and one at a context of 256. Beside
// each, by turns with it, what a step does but for products and attention, timed alone.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_rollout(const Options& options);

}  // namespace hone::bench
