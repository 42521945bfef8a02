// Packs whole sequences into the decoder's input. Every sequence gets cache blocks of its own.
#pragma once

#include <span>

#include "models/forward_batch.h"
#include "records/train_sequence.h"

namespace hone {

// A forward batch and, for each of its logit rows, the id that follows and where it stands.
struct PackedBatch {
  ForwardBatch batch;
  std::vector<int32_t> targets;    // [R]
  std::vector<int32_t> sequences;  // [R] index into the packed sequences
  std::vector<int32_t> offsets;    // [R] index into the sequence's response
  int64_t num_blocks = 0;
};

// The rows with loss are those whose next id is in the response and has loss. Ids but the last of each sequence are
// fed.
void pack_sequences(PackedBatch& packed, std::span<const TrainSequence> sequences);

}  // namespace hone
