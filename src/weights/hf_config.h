// Reads and writes the config.json of a Hugging Face model folder: dense models of the Llama, Qwen2 and Qwen3 families
// in both spellings of the keys (4.x: rope_theta, rope_scaling, torch_dtype; 5.x: rope_parameters, dtype), absent keys
// with their family's default. What would compute something else is refused by name.
#pragma once

#include <string>

#include "io/json.h"
#include "models/model_config.h"

namespace hone::weights {

// folder/config.json as it is; of a GGUF file what its metadata says in its place.
io::Json read_config_json(const std::string& folder);
// Raises Error listing every fault of it.
ModelConfig load_config(const std::string& folder);
// The same for a config that is read already; `path` is what errors call it.
ModelConfig parse_config(const io::Json& json, const std::string& path);

// "hidden_size = 4096, ...": sizes that folder/config.json does not give, with the family's defaults that were taken.
std::string defaulted_sizes(const std::string& folder);

// The config.json of a checkpoint in float32: `source_folder`'s keys where it has one, else the family's.
std::string config_text(const ModelConfig& config, const std::string& source_folder);

}  // namespace hone::weights
