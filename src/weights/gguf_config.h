// The configuration in the metadata of a GGUF file, and back. hone.pad_token_id is Hone's own key, for what the format
// has no place for: the row of the embedding that gets no gradient.
#pragma once

#include "io/gguf.h"
#include "io/json.h"
#include "models/model_config.h"

namespace hone::weights {

// The config.json of a model of the architectures llama, qwen2 and qwen3, which parse_config takes. `name` is what
// errors call the file. Raises Error with key, expected and found; what these models do not compute is refused by name.
io::Json config_of_gguf(const io::GgufContent& content, const std::string& name);

// Sets the metadata, and the divisors of Llama 3's frequencies as a tensor; `type` is that of the matrices. Raises
// Error for what llama.cpp would compute otherwise; `model` is what errors call it.
void add_config_to_gguf(io::GgufWriter& writer, const ModelConfig& config, io::GgmlType type, const std::string& model);

}  // namespace hone::weights
