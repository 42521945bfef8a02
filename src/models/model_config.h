// ModelConfig: the sizes and constants of a dense Qwen3 model. weights/hf_config.h reads it from a config.json.
#pragma once

#include <cstdint>

namespace hone {

struct ModelConfig {
  int64_t vocab_size = 0;  // rows of the embedding table
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t num_layers = 0;
  int64_t num_heads = 0;
  int64_t num_kv_heads = 0;
  int64_t head_dim = 0;
  int64_t max_position_embeddings = 0;
  float rms_norm_eps = 1e-6f;
  float rope_theta = 10000.0f;
  float initializer_range = 0.02f;
  bool tie_word_embeddings = false;

  int64_t q_size() const { return num_heads * head_dim; }
  int64_t kv_size() const { return num_kv_heads * head_dim; }
  int64_t num_parameters() const;
};

}  // namespace hone
