// The numeric mode of a run: equal modes give equal bits. (compute dtype, vector family, version of the mathematics)
#pragma once

#include <string>

#include "core/bf16.h"
#include "kernels/cpu/target.h"

namespace hone {

// "float32/any/1": in float32 every target computes the same bits. "bfloat16/dot/1" on processors with BF16 dot
// products, "bfloat16/fma/1" where they are computed in float.
std::string numeric_mode(DType dtype, const kernels::cpu::Target& target);

// auto, bfloat16, float32: auto is bfloat16 where the target has BF16 dot products. Raises Error for another name.
DType resolve_dtype(const std::string& name, const kernels::cpu::Target& target);

}  // namespace hone
