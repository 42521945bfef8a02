// Published shapes of the families, and folders of random weights in them.
#pragma once

#include <string>
#include <vector>

#include "models/model_config.h"

namespace hone::bench {

struct ModelShape {
  const char* name;
  const char* config_json;  // config.json as it is published, but for keys that the shape does not need

  ModelConfig config() const;
};

// SmolLM2-135M, Qwen2.5-0.5B, Qwen3-0.6B and Llama-3.2-1B; or those that are named, Error for an unknown name.
std::vector<ModelShape> chosen_shapes(const std::vector<std::string>& names);

// config.json and model.safetensors in bf16: numbers of the size of weights, cheap to make.
void write_dummy_model(const std::string& folder, const ModelShape& shape);

}  // namespace hone::bench
