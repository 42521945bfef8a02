// Models from one form to another: a GGUF file as a Hugging Face folder, and a model (of either form) as a GGUF file.
#pragma once

#include <string>

#include "io/gguf_blocks.h"

namespace hone::weights {

// Writes config.json, model.safetensors, tokenizer.json, tokenizer_config.json and generation_config.json as a folder
// that appears whole. F16 and BF16 tensors stay as they are, quantised blocks become float32, exactly.
void gguf_to_folder(const std::string& gguf, const std::string& folder);

// Matrices as `type` (f32, f16, bf16, q8_0; f16 where a row is no multiple of a block), norms and biases as F32.
// Atomic.
void model_to_gguf(const std::string& model, const std::string& gguf, io::GgmlType type);

}  // namespace hone::weights
