#include "models/model_config.h"

namespace hone {

int64_t ModelConfig::num_parameters() const {
  const int64_t attention = hidden_size * (q_size() + 2 * kv_size()) + q_size() * hidden_size + 2 * head_dim;
  const int64_t mlp = 3 * hidden_size * intermediate_size;
  const int64_t tables = (tie_word_embeddings ? 1 : 2) * vocab_size * hidden_size;
  return tables + num_layers * (attention + mlp + 2 * hidden_size) + hidden_size;
}

}  // namespace hone
