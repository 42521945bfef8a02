// A schedule as the decoder's input. Nothing is allocated once the batch has grown to its largest step.
#pragma once

#include "models/forward_batch.h"
#include "rollout/scheduler.h"

namespace hone {

// logit_rows are the rows of the draws, in their order; siblings that draw from one row have it twice.
void fill_batch(ForwardBatch& batch, const Schedule& schedule);

}  // namespace hone
