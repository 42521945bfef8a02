// A Hugging Face model folder: weights into a decoder and out of it. Tensors keep their published names; what is
// written is float32, the weights to the bit (models/parameter.h: an exact parameter keeps floats).
#pragma once

#include <memory>
#include <string>

#include "models/decoder.h"

namespace hone::weights {

// Reads folder/config.json and the weights of model.safetensors or its shards (F32, F16, BF16) as products read them,
// on all threads of the context: the decoder is ready to sample, at version 0. Before anything is read, one Error lists
// every fault of the files (model_files.h). A head beside a tied embedding must equal it. A folder with an adapter
// (adapter_folder.h) is the model that it names, with the adapter; only for sampling.
std::unique_ptr<Decoder> load_decoder(kernels::Context& ctx, const std::string& folder, DType dtype,
                                      DecoderUse use = DecoderUse::train);
// The same on the calling thread, on the machine's own target.
std::unique_ptr<Decoder> load_decoder(const std::string& folder, DType dtype);

// The model of a folder, its own weights as `lora` has them: the adapters are for the caller to fill.
std::unique_ptr<Decoder> load_adapted_decoder(kernels::Context& ctx, const std::string& folder, DType dtype,
                                              const LoraConfig& lora);
// A critic's weights: those of a language model, whose head is left out and replaced by one that gives the value 0, or,
// where the folder holds it, with the head score.weight. Raises Error as load_decoder does.
std::unique_ptr<Decoder> load_value_decoder(kernels::Context& ctx, const std::string& folder, DType dtype);
// The same from random weights for config.json alone.
std::unique_ptr<Decoder> random_value_decoder(kernels::Context& ctx, const std::string& folder, DType dtype,
                                              uint64_t seed);

// Writes config.json into an existing folder, and copies the tokenizer and generation files of `source_folder` (where
// they exist).
void save_companions(const ModelConfig& config, const std::string& folder, const std::string& source_folder);
// The same with model.safetensors. Adapters are merged into the weights, W + scale B A, their sums in float.
void save_model(const Decoder& decoder, const std::string& folder, const std::string& source_folder);

}  // namespace hone::weights
