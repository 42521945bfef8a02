// ModelLayout: the parameters of a model in their order, and which of them plays which part. From the configuration
// alone: a checkpoint is held against it before anything is allocated.
#pragma once

#include <optional>
#include <vector>

#include "models/model_config.h"
#include "models/parameter.h"

namespace hone {

// Tensors of a checkpoint: logits of the vocabulary, or (ModelConfig::value_head) one value.
inline constexpr const char* kLanguageHead = "lm_head.weight";
inline constexpr const char* kValueHead = "score.weight";

// Indices into the list of parameters.
struct LayerLayout {
  size_t input_norm = 0, qkv = 0, o = 0, post_norm = 0, gate_up = 0, down = 0;
  std::optional<size_t> q_norm, k_norm;
  std::optional<size_t> qkv_bias, o_bias, gate_up_bias, down_bias;
};

struct ModelLayout {
  explicit ModelLayout(const ModelConfig& config);

  std::vector<ParameterSpec> parameters;
  std::vector<LayerLayout> layers;
  size_t embedding = 0, final_norm = 0;
  size_t head = 0;  // the embedding when tied

 private:
  void add_layer(const ModelConfig& config, int64_t index);
  size_t add(ParameterSpec spec);
};

}  // namespace hone
