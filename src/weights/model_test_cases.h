// The small model of the tests of this folder. Its sizes stand in what they expect of messages.
#pragma once

#include "models/model_config.h"

namespace hone {

inline ModelConfig small_config(Family family, bool tied) {
  ModelConfig config;
  config.family = family;
  config.vocab_size = 23;
  config.hidden_size = 12;
  config.intermediate_size = 20;
  config.num_layers = 2;
  config.num_heads = 4;
  config.num_kv_heads = 2;
  config.head_dim = 6;
  config.max_position_embeddings = 64;
  config.rope_theta = 123456.5f;
  config.rms_norm_eps = 3e-5f;
  config.tie_word_embeddings = tied;
  config.qk_norm = family == Family::qwen3;
  config.qkv_bias = family == Family::qwen2;
  return config;
}

}  // namespace hone
