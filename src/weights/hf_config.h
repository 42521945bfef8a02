// Reads and writes the config.json of a Hugging Face model folder. Dense Qwen3 in both spellings of the keys (4.x:
// rope_theta, torch_dtype; 5.x: rope_parameters, dtype). What would compute something else is refused by name.
#pragma once

#include <string>

#include "models/model_config.h"

namespace hone::weights {

// Raises Error listing every fault of folder/config.json.
ModelConfig load_config(const std::string& folder);

// The config.json of a checkpoint in float32: `source_folder`'s keys where it has one, else the family's.
std::string config_text(const ModelConfig& config, const std::string& source_folder);

}  // namespace hone::weights
