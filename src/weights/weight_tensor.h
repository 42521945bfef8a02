// WeightTensor: a tensor as Hugging Face names and orders it, whatever holds it. Private to weights/.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/safetensors.h"

namespace hone::weights {

struct WeightTensor {
  std::string name;
  std::string file;  // where it stands, for messages
  std::vector<int64_t> shape;
  int64_t size = 0;                                                   // elements
  io::StoredType type = io::StoredType::f32;                          // which holds its values exactly
  std::function<void(int64_t begin, int64_t size, float* out)> read;  // of a float type; from any thread
};

}  // namespace hone::weights
