// A LoRA adapter as PEFT keeps it: adapter_config.json and adapter_model.safetensors, with PEFT's names of tensors,
// float32. A checkpoint with adapters is such a folder; its model is the one that the configuration names.
#pragma once

#include <string>

#include "models/decoder.h"

namespace hone::weights {

bool is_adapter_folder(const std::string& folder);

struct AdapterConfig {
  LoraConfig lora;
  std::string base_model;  // folder of the model that the adapter belongs to; may be empty
  double dropout = 0;      // that it was trained with: sampling has none
};
// Reads folder/adapter_config.json. Raises one Error listing what is not LoRA of linear layers over an unchanged model.
AdapterConfig load_adapter_config(const std::string& folder);
// Its base_model. Raises Error when it is no folder of a model: absent, a name to download, an adapter itself.
std::string adapter_base(const std::string& folder);

// The adapters of a decoder made with the same LoraConfig. Raises one Error that lists tensors that are missing,
// unexpected, or of another shape.
void load_adapter(kernels::Context& ctx, Decoder& decoder, const std::string& folder);

// Writes both files into an existing folder, and what save_companions writes. `base_model` is named by its absolute
// path where it is there; `source_folder` has its companions, also when it is not.
void save_adapter(const Decoder& decoder, const std::string& folder, const std::string& base_model,
                  const std::string& source_folder);

}  // namespace hone::weights
