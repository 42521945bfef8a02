#include "train/micro_batches.h"

namespace hone {

std::vector<MicroBatch> cut_micro_batches(std::span<const int64_t> rows, int64_t token_budget) {
  std::vector<MicroBatch> batches;
  int64_t used = 0;
  for (size_t s = 0; s < rows.size(); ++s) {
    if (batches.empty() || used + rows[s] > token_budget) {
      batches.push_back({s, s});
      used = 0;
    }
    batches.back().end = s + 1;
    used += rows[s];
  }
  return batches;
}

}  // namespace hone
