// The updates of a step: which of its groups each of them sees.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "prompts/row_order.h"

namespace hone {

struct MiniBatchPlan {
  int64_t groups = 0;  // of the step
  int64_t size = 1;    // groups of an update; the last of a pass takes what is left
  int64_t epochs = 1;  // passes
  bool shuffle = false;
  uint64_t seed = 0;
};

// Indices of groups, update by update.
inline std::vector<std::vector<uint32_t>> mini_batches(const MiniBatchPlan& plan, int64_t global_step) {
  std::vector<std::vector<uint32_t>> updates;
  for (int64_t epoch = 0; epoch < plan.epochs; ++epoch) {
    const auto order =
        epoch_order(plan.groups, plan.shuffle, plan.seed, static_cast<uint64_t>(global_step * plan.epochs + epoch));
    for (int64_t begin = 0; begin < plan.groups; begin += plan.size) {
      updates.emplace_back(order.begin() + begin, order.begin() + std::min(begin + plan.size, plan.groups));
    }
  }
  return updates;
}

}  // namespace hone
