// The weights that a run starts from: those of the model's folder, or random ones for its config.json alone
// (load_format dummy).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "loop/run_recipe.h"
#include "models/decoder.h"

namespace hone {

// Whether the run begins with the weights of the model's folder, for there is no checkpoint to go on from.
bool starts_from_model(const RunRecipe& run);

// Raises one Error listing all faults of the weight files of the folder; there is nothing to check for dummy, nor where
// the folder holds none (a run that goes on from a checkpoint needs none), unless `must_exist`.
void check_weight_files(const std::string& folder, const std::string& load_format, bool must_exist);

// From the checkpoint where there is one, else from the folder, or random as a function of the seed. Adapters: those of
// the checkpoint, else of `adapter_path`, else new ones. Raises Error when config.json or tokenizer.json of the folder
// are not those that the checkpoint was saved with.
std::unique_ptr<Decoder> starting_decoder(kernels::Context& ctx, const std::optional<std::string>& checkpoint,
                                          const std::string& folder, const std::string& load_format, uint64_t seed,
                                          DType dtype, const LoraConfig& lora = {},
                                          const std::optional<std::string>& adapter_path = {});

}  // namespace hone
