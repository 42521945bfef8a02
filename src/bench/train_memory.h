// hone bench train_memory: the largest resident memory of whole training steps, for every form of the training state
// and of the activations, against its bound and the estimate that runs are checked by. A line a form; Options::families
// names some of them.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_train_memory(const Options& options);

}  // namespace hone::bench
