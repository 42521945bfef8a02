// The order of an epoch by expected lengths (the Length-Aware Resampler): a batch holds prompts whose answers are about
// equally long, so that it does not wait for a few long ones while the machine is idle.
//
// - Every row is there once. Those that fill no batch are the last ones of `order` and stay the last: which they are is
//   random, not a question of length.
// - Rows are sorted by floor(expected / bucket_size). Inside a bucket they stay as random as `order`, or are sorted by
//   the expected length itself: as the published sampler does it, where the bucket changes nothing.
// - Blocks of one batch are then shuffled, so that short and long batches take turns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prompts/length_estimates.h"

namespace hone {

struct LengthOrderOptions {
  int64_t bucket_size = 512;  // ids
  bool random_in_bucket = true;
  bool shuffle_blocks = true;
};

// `order`: the rows, shuffled. A function of its arguments.
std::vector<uint32_t> length_aware_order(std::span<const uint32_t> order, const LengthEstimates& lengths,
                                         int64_t batch_size, const LengthOrderOptions& options, uint64_t seed,
                                         uint64_t epoch);

}  // namespace hone
