// Overlong shaping: what an answer loses that comes near the limit of its length (DAPO, Yu et al. 2025, equation 13).
#pragma once

#include <cstdint>

namespace hone {

struct OverlongBuffer {
  int64_t max_length = 0;     // ids of the longest answer
  int64_t length = 0;         // the last ids before it, at least 1
  double penalty_factor = 0;  // lost by an answer of max_length ids, and by longer ones
};

// 0 up to max_length - length ids, then linearly down to -penalty_factor.
double overlong_penalty(int64_t answer_length, const OverlongBuffer& buffer);

}  // namespace hone
