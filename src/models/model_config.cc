#include "models/model_config.h"

#include "core/error.h"

namespace hone {

const char* name(Family family) {
  switch (family) {
    case Family::llama:
      return "llama";
    case Family::qwen2:
      return "qwen2";
    case Family::qwen3:
      return "qwen3";
  }
  HONE_CHECK(false, "family {}", static_cast<int>(family));
}

int64_t ModelConfig::num_parameters() const {
  const int64_t qkv_size = q_size() + 2 * kv_size();
  int64_t layer = hidden_size * qkv_size + q_size() * hidden_size + 3 * hidden_size * intermediate_size;
  layer += 2 * hidden_size;
  if (qk_norm) layer += 2 * head_dim;
  if (qkv_bias) layer += qkv_size;
  if (o_bias) layer += hidden_size;
  if (mlp_bias) layer += 2 * intermediate_size + hidden_size;
  const bool has_head = value_head || !tie_word_embeddings;
  const int64_t tables = (vocab_size + (has_head ? num_outputs() : 0)) * hidden_size;
  return tables + num_layers * layer + hidden_size;
}

}  // namespace hone
