// Speculation without a draft model, on against off, with ids that are given in place of the draws.
#pragma once

#include "bench/bench.h"

namespace hone::bench {

// Recorded answers, four running: few sequences and ids that repeat. Own and group sources. A line for each text and
// one for both.
int run_speculation_tail(const Options& options);
// 64 sequences running, no id that could be guessed: what speculation costs where it cannot help.
int run_speculation_crowd(const Options& options);
// Appending and drafting alone, microseconds for each id.
int run_speculation_draft(const Options& options);

}  // namespace hone::bench
