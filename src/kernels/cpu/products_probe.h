// Probes of the machine for the benchmarks: the peak of register-resident products, the rate of plain reading.
// Part of products_target.cc.
#pragma once

#include "kernels/cpu/vec.h"

namespace hone::kernels::cpu::HONE_TARGET {
namespace {

// Enough chains to cover latency times throughput on every processor of the target (5 cycles x 2 units).
constexpr int kChains = 12;

// Chains start from different values: equal ones would be merged by the compiler into a single chain.
template <class Type>
float peak(int64_t steps, const float* seed) {
  Vec acc[kChains];
  for (int i = 0; i < kChains; ++i) acc[i] = load(seed + i);
  const auto a = Type::load_b(reinterpret_cast<const typename Type::Element*>(seed + 32));
  const auto b = Type::load_b(reinterpret_cast<const typename Type::Element*>(seed + 48));
  for (int64_t s = 0; s < steps; ++s) {
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) acc[i] = Type::multiply_add(a, b, acc[i]);
  }
  Vec total = acc[0];
  for (int i = 1; i < kChains; ++i) total = total + acc[i];
  return sum(total);
}

float read_all(const float* data, int64_t size) {
  Vec acc[8];
  for (int i = 0; i < 8; ++i) acc[i] = zero();
  for (int64_t i = 0; i + 8 * kLanes <= size; i += 8 * kLanes) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      __builtin_prefetch(data + i + j * kLanes + 1024, 0, 3);
      acc[j] = max(acc[j], load(data + i + j * kLanes));
    }
  }
  Vec total = acc[0];
  for (int i = 1; i < 8; ++i) total = max(total, acc[i]);
  return max_lane(total);
}

}  // namespace
}  // namespace hone::kernels::cpu::HONE_TARGET
