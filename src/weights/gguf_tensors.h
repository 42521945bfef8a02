// The tensors of a GGUF file as a checkpoint has them. Private to weights/.
#pragma once

#include <string>
#include <vector>

#include "io/faults.h"
#include "io/gguf.h"
#include "models/model_config.h"
#include "weights/weight_tensor.h"

namespace hone::weights {

// In file order; they read out of `content`. `path` is what errors call the file. A tensor that no dense decoder has,
// by its name there, is a fault. One whose rows are no whole heads is a fault too, and its name goes to `lost`.
std::vector<WeightTensor> gguf_tensors(const io::GgufContent& content, const ModelConfig& config,
                                       const std::string& path, io::Faults& faults, std::vector<std::string>& lost);

}  // namespace hone::weights
