// Packs sequences into the decoder's input: whole ones, and such as share the prompt of the one before them.
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

// Whether b can use the rows of a's prompt: they are the same ids.
bool same_prompt(const TrainSequence& a, const TrainSequence& b);

// The rows with loss are those whose next id is in the response and has loss. Ids but the last of each sequence are
// fed; with share_prompts those of a prompt once for all neighbours that have it. Full cache blocks of a shared prompt
// are shared too, the rest of it is copied to the first block of each.
void pack_sequences(PackedBatch& packed, std::span<const TrainSequence> sequences, bool share_prompts);

}  // namespace hone
