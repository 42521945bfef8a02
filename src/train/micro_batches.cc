#include "train/micro_batches.h"

namespace hone {

std::vector<MicroBatch> cut_micro_batches(std::span<const SequenceRows> sequences, int64_t token_budget) {
  std::vector<MicroBatch> batches;
  int64_t used = 0, shared = 0;
  for (size_t s = 0; s < sequences.size(); ++s) {
    const auto& [rows, common] = sequences[s];
    if (batches.empty() || used + rows - common > token_budget || shared + common > token_budget) {
      batches.push_back({s, s});
      used = rows;
      shared = 0;
    } else {
      used += rows - common;
      shared += common;
    }
    batches.back().end = s + 1;
  }
  return batches;
}

}  // namespace hone
