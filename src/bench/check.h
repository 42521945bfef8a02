// hone bench check: the checks before a run, on 10,000 rows of word problems: tokenizer, config, every row in ids.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_check(const Options& options);

}  // namespace hone::bench
