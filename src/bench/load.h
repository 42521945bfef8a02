// hone bench load: how fast a model folder becomes a decoder that is ready to sample, against how fast the same threads
// read the same files from page cache into memory of their own. Beside it: ready to train (masters too), and the page
// cache read over and over into one small buffer; processor seconds of each.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_load(const Options& options);

}  // namespace hone::bench
