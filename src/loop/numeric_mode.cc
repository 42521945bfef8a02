#include "loop/numeric_mode.h"

#include <fmt/core.h>

#include "core/error.h"

namespace hone {

namespace {
constexpr int kMathematics = 1;  // count up when a kernel's bits change
}

std::string numeric_mode(DType dtype, const kernels::cpu::Target& target) {
  const char* family = dtype == DType::f32 ? "any" : target.has_bf16_dot ? "dot" : "fma";
  return fmt::format("{}/{}/{}", name(dtype), family, kMathematics);
}

DType resolve_dtype(const std::string& dtype, const kernels::cpu::Target& target) {
  if (dtype == "auto") return target.has_bf16_dot ? DType::bf16 : DType::f32;
  if (dtype == "bfloat16") return DType::bf16;
  if (dtype == "float32") return DType::f32;
  throw Error(fmt::format("dtype: '{}' is not known", dtype), "one of auto, bfloat16, float32");
}

}  // namespace hone
