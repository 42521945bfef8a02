#include "loop/rollout_memory.h"

#include <algorithm>

namespace hone {

double rollout_scratch_bytes(const ModelConfig& config, DType dtype, const EngineOptions& options,
                             int64_t longest_sequence) {
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  const double ids =
      std::min(number(options.max_num_batched_tokens), number(options.max_num_seqs) * number(longest_sequence));
  const double rows = std::min(ids, number(options.max_num_seqs));  // whose hidden states are drawn from
  const double hidden = rows * number(config.hidden_size * size_bytes(dtype));
  const double logits_row = number(config.vocab_size) * sizeof(float);
  const double logits = std::min(std::max(number(options.logits_bytes), logits_row), rows * logits_row);
  // of a forward's buffers the residual stream before the final norm is that of the drawn rows alone
  const double passing = ids * number(Decoder::passing_bytes_per_token(config, dtype)) -
                         (ids - rows) * number(config.hidden_size) * sizeof(float);
  return hidden + std::max(passing, logits);
}

}  // namespace hone
