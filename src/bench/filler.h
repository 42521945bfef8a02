// Numbers to fill weights and caches with: cheap, a function of the place, without a pattern that a sum would feel.
// Denormals or zeros would be measured as something else.
#pragma once

#include <cstdint>

namespace hone::bench {

// Between -2 and 2, of about unit variance.
inline float filler(uint64_t place) {
  const uint64_t bits = (place + 1) * 0x9e3779b97f4a7c15u;
  return static_cast<float>(static_cast<int32_t>((bits ^ (bits >> 29)) >> 32)) * 0x1p-30f;
}

}  // namespace hone::bench
