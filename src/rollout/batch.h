// A schedule as the decoder's input. A step that is not larger than what was reserved allocates nothing.
#pragma once

#include "models/forward_batch.h"
#include "rollout/scheduler.h"

namespace hone {

// Takes the memory of the largest step; max_blocks are those of the longest sequence.
void reserve_batch(ForwardBatch& batch, int64_t max_tokens, int64_t max_sequences, int64_t max_blocks);

// logit_rows are the rows of the draws, in their order; siblings that draw from one row have it twice.
void fill_batch(ForwardBatch& batch, const Schedule& schedule);

}  // namespace hone
