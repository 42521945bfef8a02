// PromptSource: the prompts of a run in the order it draws them. It may learn how long answers are, by which the epochs
// to come are then ordered (length_order.h) and answers capped (early_stop_cap).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "prompts/length_estimates.h"
#include "prompts/length_order.h"
#include "prompts/row_order.h"
#include "records/prompt.h"

namespace hone {

struct PromptSourceOptions {
  int64_t batch_size = 1;
  bool shuffle = true;
  uint64_t seed = 0;
  // Learn lengths: with this weight of what is old, and this length where nothing is known.
  bool learn_lengths = false;
  double ema_decay = 0.7, default_length = 256;
  // Order each epoch whose beginning knows of some length by what is known then. Rows are then drawn in random order
  // whatever `shuffle` says. Needs learn_lengths.
  bool order_by_length = false;
  LengthOrderOptions length_order;
};

class PromptSource {
 public:
  // `prompts` outlives the source and what it gives. Raises Error when they do not fill one batch.
  PromptSource(const std::vector<Prompt>& prompts, const PromptSourceOptions& options);

  // The next prompts, over the ends of epochs.
  std::vector<DrawnPrompt> next(int64_t count);
  std::vector<DrawnPrompt> next_batch() { return next(options_.batch_size); }
  int64_t batches_per_epoch() const { return order_.batches_per_epoch(); }

  // Of a source that learns lengths. A prompt is one that this source gave.
  bool learns_lengths() const { return lengths_.has_value(); }
  void observe(const Prompt& prompt, std::span<const AnswerLength> answers);
  double expected_length(const Prompt& prompt) const { return lengths_->expected(row_of(prompt)); }
  const LengthEstimate& estimate(const Prompt& prompt) const { return lengths_->rows()[row_of(prompt)]; }

  // With the file, when the source learns lengths, all that a checkpoint keeps: the position gives the rest.
  DataPosition position() const { return order_.position(); }
  void restore(const DataPosition& position) { order_.restore(position); }
  // The order of the epoch that has begun and every estimate, as JSON. Reading comes after restore() and raises Error,
  // with file and place, on what write_lengths would not have written of this data.
  void write_lengths(const std::string& path) const;
  void read_lengths(const std::string& path);

 private:
  uint32_t row_of(const Prompt& prompt) const;

  const std::vector<Prompt>* prompts_;
  PromptSourceOptions options_;
  RowOrder order_;
  std::optional<LengthEstimates> lengths_;
};

// In the order in which they are best begun where more are in flight than run at once: a long one that is begun last is
// waited for alone. By expected length, else as they stand.
void longest_first(const PromptSource& source, std::vector<DrawnPrompt>& drawn);

}  // namespace hone
