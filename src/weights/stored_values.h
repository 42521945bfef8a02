// Stored tensors to float, in loops that the compiler turns into vector code: what a loader spends its time on.
#pragma once

#include <cstdint>

#include "io/safetensors.h"

namespace hone::weights {

// Elements [begin, begin + size) of an F32, BF16 or F16 tensor, exact. The type must have been checked.
void read_values(const io::StoredTensor& tensor, int64_t begin, int64_t size, float* out);

}  // namespace hone::weights
