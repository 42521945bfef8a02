// A Hugging Face model folder: weights into a decoder and out of it. Tensors keep their published names; what is
// written is float32, the master weights to the bit.
#pragma once

#include <memory>
#include <string>

#include "models/decoder.h"

namespace hone::weights {

// Fills the weights from model.safetensors or its shards (F32, F16, BF16; exact) and packs them for forward products on
// all threads of the context: the decoder is ready to sample, at version 0. Before anything is read, one Error lists
// every fault of the files (model_files.h). A head beside a tied embedding must equal it.
void load_weights(kernels::Context& ctx, Decoder& decoder, const std::string& folder);

// Reads folder/config.json, checks the files, allocates, and loads.
std::unique_ptr<Decoder> load_decoder(kernels::Context& ctx, const std::string& folder, DType dtype,
                                      DecoderUse use = DecoderUse::train);
// The same on the calling thread, on the machine's own target.
std::unique_ptr<Decoder> load_decoder(const std::string& folder, DType dtype);

// Writes model.safetensors and config.json into an existing folder, and copies the tokenizer and generation files of
// `source_folder` (where they exist).
void save_model(const Decoder& decoder, const std::string& folder, const std::string& source_folder);

}  // namespace hone::weights
