// hone bench train: a whole optimizer step of GRPO with entropy over 4,096 tokens in sequences of 512, the pass that
// only scores, the optimizer, and the head with its loss.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_train(const Options& options);

}  // namespace hone::bench
