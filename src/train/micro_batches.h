// How an optimizer batch is cut into micro-batches. Pure: no tensors.
// Invariants: every sequence in exactly one micro-batch; sequences of a micro-batch in their order; none empty; the
// rows of a micro-batch are within the token budget unless it is one sequence alone, and so are the rows of prompts
// that sequences share with the one before them.
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
struct MicroBatchLimits {
  int64_t tokens = 16384;  // rows computed
  int64_t sequences = 0;   // 0: any number
};

// In the given order, each micro-batch as full as it may be.
std::vector<MicroBatch> cut_micro_batches(std::span<const SequenceRows> sequences, const MicroBatchLimits& limits);

// The same number of micro-batches or fewer, of nearly equal work: the Karmarkar-Karp partition of 6 D rows + rows^2 a
// sequence (verl's workload, which has D = 4096), if it is within the limits; else as cut in order. Sequences that
// share a prompt stay together as far as a micro-batch holds them.
struct BalancedMicroBatches {
  std::vector<size_t> order;        // of the sequences
  std::vector<MicroBatch> batches;  // of places in `order`
};
BalancedMicroBatches balance_micro_batches(std::span<const SequenceRows> sequences, const MicroBatchLimits& limits,
                                           int64_t hidden_size);

}  // namespace hone
