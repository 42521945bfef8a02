// What a step of this engine costs by its rows, measured on the engine itself.
#pragma once

#include <vector>

#include "kernels/context.h"
#include "models/decoder.h"
#include "models/kv_cache.h"
#include "rollout/draft_budget.h"

namespace hone {

// The quickest of three steps at each of a dozen numbers of rows up to 128, and no more than max_rows, the cache and
// the model's positions hold: about twenty times as long as a step of 64 rows. Writes to the first blocks of the cache,
// which must hold nothing that is needed. The weights are published.
std::vector<CostPoint> measure_step_cost(kernels::Context& ctx, const Decoder& decoder, KvCache& kv, int64_t max_rows);

}  // namespace hone
