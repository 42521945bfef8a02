// The rotary part of a config.json in all its spellings: rope_theta and rope_scaling (4.x), rope_parameters (5.x),
// rope_type or type, one object or one for each type of layer. Private to weights/.
#pragma once

#include "models/model_config.h"
#include "weights/config_reader.h"

namespace hone::weights {

// Sets rope_theta, rope_scaling and, for yarn, the context that it reaches. max_position_embeddings must be set.
void read_rope(ConfigReader& in, ModelConfig& config, double default_theta);

}  // namespace hone::weights
