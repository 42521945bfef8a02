// PromptSource: the prompts of a run in the order it draws them.
#pragma once

#include <cstdint>
#include <vector>

#include "prompts/row_order.h"
#include "records/prompt.h"

namespace hone {

class PromptSource {
 public:
  // `prompts` outlives the source and what it gives. Raises Error when they do not fill one batch.
  PromptSource(const std::vector<Prompt>& prompts, int64_t batch_size, bool shuffle, uint64_t seed)
      : prompts_(prompts), order_(static_cast<int64_t>(prompts.size()), batch_size, shuffle, seed) {}

  std::vector<DrawnPrompt> next_batch() {
    std::vector<DrawnPrompt> batch;
    for (const DrawnRow& drawn : order_.next_batch()) batch.push_back({&prompts_[drawn.row], drawn.draw});
    return batch;
  }
  int64_t batches_per_epoch() const { return order_.batches_per_epoch(); }
  DataPosition position() const { return order_.position(); }
  void restore(const DataPosition& position) { order_.restore(position); }

 private:
  const std::vector<Prompt>& prompts_;
  RowOrder order_;
};

}  // namespace hone
