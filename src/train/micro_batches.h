// How an optimizer batch is cut into micro-batches. Pure: no tensors.
// Invariants: every sequence in exactly one micro-batch; order kept; none empty; the rows of a micro-batch are within
// the token budget unless it is one sequence alone, and so are the rows of prompts that sequences share with the one
// before them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hone {

struct MicroBatch {
  size_t begin = 0, end = 0;  // sequences
};
struct SequenceRows {
  int64_t rows = 0;    // all of them
  int64_t shared = 0;  // of these, such as the sequence before has computed when both are in one micro-batch
};
std::vector<MicroBatch> cut_micro_batches(std::span<const SequenceRows> sequences, int64_t token_budget);

}  // namespace hone
