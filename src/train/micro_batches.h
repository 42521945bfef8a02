// How an optimizer batch is cut into micro-batches. Pure: no tensors.
// Invariants: every sequence in exactly one micro-batch; order kept; none empty; the rows of a micro-batch are within
// the token budget unless it is one sequence alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hone {

struct MicroBatch {
  size_t begin = 0, end = 0;  // sequences
};
std::vector<MicroBatch> cut_micro_batches(std::span<const int64_t> rows, int64_t token_budget);

}  // namespace hone
