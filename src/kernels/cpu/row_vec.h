// Walking a row in vectors of 16 lanes with a short last one, and stores by output type. Only for *_target.cc files.
#pragma once

#include "kernels/cpu/vec.h"

// A lambda that is always inlined, so that its vectors stay in registers.
#define HONE_LANES [&](int64_t i, int n) __attribute__((always_inline))

namespace hone::kernels::cpu::HONE_TARGET {
namespace {

// body(i, n) for every stretch [i, i + n) of n = kLanes elements and a last one of n < kLanes.
template <class Body>
HONE_INLINE void for_lanes(int64_t size, const Body& body) {
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) body(i, kLanes);
  if (i < size) body(i, static_cast<int>(size - i));
}

// The first n lanes; n = kLanes is known when inlined and costs nothing.
HONE_INLINE Vec get(const float* p, int n) { return n == kLanes ? load(p) : load_n(p, n); }
HONE_INLINE void put(float* p, Vec a, int n) {
  if (n == kLanes) {
    store(p, a);
  } else {
    store_n(p, a, n);
  }
}
HONE_INLINE void put(uint16_t* p, Vec a, int n) {  // bf16, rounded to nearest even
  if (n == kLanes) {
    store_bf16(p, a);
  } else {
    store_bf16_n(p, a, n);
  }
}
HONE_INLINE float first_lane(Vec a) {
  float x;
  store_n(&x, a, 1);
  return x;
}

}  // namespace
}  // namespace hone::kernels::cpu::HONE_TARGET
