// IEEE half precision, as stored in files; arithmetic is never done in it.
#pragma once

#include <bit>
#include <cstdint>

namespace hone::io {

// Exact, and without branches, so that loops over it become vector code: exponent and fraction moved into place are
// 2^-112 of the value, subnormal ones included.
inline float half_to_float(uint16_t bits) {
  const uint32_t magnitude = (bits & 0x7fffu) << 13;
  const uint32_t scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const uint32_t value = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : scaled;  // infinities and NaN
  return std::bit_cast<float>(value | (bits & 0x8000u) << 16);
}

// Nearest, ties to even; too large values become infinite, a NaN stays one.
inline uint16_t float_to_half(float value) {
  const uint32_t u = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((u >> 16) & 0x8000u);
  const uint32_t magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 2^16 and more
  if (magnitude < 0x38800000u) {
    // Below 2^-14 the spacing is 2^-24: adding 0.5 puts the last kept bit at the last bit of a float.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u;
  return static_cast<uint16_t>(sign | rounded >> 13);
}

}  // namespace hone::io
