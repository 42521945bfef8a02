// A whole optimizer step: GRPO loss with entropy over 4,096 tokens in sequences of 512.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_train(const Options& options);

}  // namespace hone::bench
