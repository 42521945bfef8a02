// The rotary scaling of a GGUF file, as llama.cpp takes it, and back. Private to weights/gguf_*.cc.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "models/model_config.h"
#include "weights/gguf_keys.h"

namespace hone::weights {

// The rope_scaling of a config.json; null where nothing is scaled. `config` is that of the file without it. Raises
// Error for what the models here do not compute.
io::Json rope_scaling_of_gguf(const GgufKeys& in, const ModelConfig& config);

// Divisors of the frequencies, one for each rotary pair of `config`, are Llama 3's scaling, whose constants a file does
// not hold: those that give the divisors are looked for, with the low factor 1 and the high factor 4 of all published
// models. Nothing where there are none.
std::optional<RopeScaling> find_llama3(std::span<const float> divisors, const ModelConfig& config);

// Raises Error for a scaling that rope_scaling_of_gguf, or llama.cpp, would read as another one; `model` is what errors
// call it.
void add_rope_to_gguf(io::GgufWriter& writer, const ModelConfig& config, const std::string& model);

}  // namespace hone::weights
