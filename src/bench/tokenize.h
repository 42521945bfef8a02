// Speed of the tokenizer on one core: text to ids, ids to text, and reading tokenizer.json.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

int run_tokenize(const Options& options);

}  // namespace hone::bench
