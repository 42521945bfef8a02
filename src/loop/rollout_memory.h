// What sampling takes beside weights and keys and values, for the check before a run.
#pragma once

#include "rollout/engine.h"

namespace hone {

// Bytes of the context's scratch: a forward of as many ids as a step may have, and logits. No sequence is longer than
// `longest_sequence`.
double rollout_scratch_bytes(const ModelConfig& config, DType dtype, const EngineOptions& options,
                             int64_t longest_sequence);

}  // namespace hone
