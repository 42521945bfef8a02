// A Hugging Face model folder: weights into a decoder and out of it. Tensors keep their published names; what is
// written is float32, the master weights to the bit.
#pragma once

#include <memory>
#include <string>

#include "models/decoder.h"

namespace hone::weights {

// Fills the master weights from model.safetensors or its shards (F32, F16, BF16). Raises one Error listing every
// missing, unexpected or misshapen tensor, before anything is read. A head beside a tied embedding must equal it.
void load_weights(Decoder& decoder, const std::string& folder);

// Reads folder/config.json and the weights. The version is 0; publish() is the caller's.
std::unique_ptr<Decoder> load_decoder(const std::string& folder, DType dtype);

// Writes model.safetensors and config.json into an existing folder, and copies the tokenizer and generation files of
// `source_folder` (where they exist).
void save_model(const Decoder& decoder, const std::string& folder, const std::string& source_folder);

}  // namespace hone::weights
