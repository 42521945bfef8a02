// A model small enough to compute with in tests and in `hone selftest`: grouped heads, two layers, and sizes that are
// no multiple of a vector.
#pragma once

#include "models/model_config.h"

namespace hone {

inline ModelConfig tiny_model_config(int64_t vocab_size, int64_t head_dim) {
  ModelConfig config;
  config.vocab_size = vocab_size;
  config.hidden_size = 3 * head_dim;
  config.intermediate_size = 5 * head_dim;
  config.num_layers = 2;
  config.num_heads = 4;
  config.num_kv_heads = 2;
  config.head_dim = head_dim;
  config.max_position_embeddings = 512;
  config.initializer_range = 0.3f;  // so that the distributions are not flat
  config.tie_word_embeddings = true;
  return config;
}

}  // namespace hone
