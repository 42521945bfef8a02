// bf16: the upper half of a float, rounded to nearest even. Storage only; arithmetic is in float.
#pragma once

#include <bit>
#include <cstdint>

namespace hone {

struct bf16 {
  uint16_t bits = 0;

  bf16() = default;
  explicit bf16(float value) {
    uint32_t u = std::bit_cast<uint32_t>(value);
    if ((u & 0x7fffffffu) > 0x7f800000u) {
      bits = static_cast<uint16_t>((u >> 16) | 0x40u);  // a NaN stays a NaN
    } else {
      bits = static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
    }
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  bool operator==(const bf16&) const = default;
};
static_assert(sizeof(bf16) == 2);

// Element type of product inputs and of the KV cache ("compute dtype").
enum class DType { f32, bf16 };
constexpr int64_t size_bytes(DType dtype) { return dtype == DType::f32 ? 4 : 2; }
constexpr const char* name(DType dtype) { return dtype == DType::f32 ? "float32" : "bfloat16"; }

}  // namespace hone
