// Probes of the machine for the benchmarks: the peak of register-resident products, the rate of plain reading.
// Part of products_target.cc.
#pragma once

#include "kernels/cpu/vec.h"

namespace hone::kernels::cpu::HONE_TARGET {
namespace {

// Enough chains to cover latency times throughput (5 cycles x 2 units), few enough to stay in registers: a Vec is one
// register of 32 on AVX-512, two of 16 on AVX2.
#if HONE_TARGET_is_512
constexpr int kChains = 12;
#else
constexpr int kChains = 6;
#endif

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

// Four streams side by side: one alone leaves the memory system half idle.
float read_all(const float* data, int64_t size) {
  constexpr int kStreams = 4;
  const int64_t length = size / kStreams;
  Vec acc[kStreams];
  for (int j = 0; j < kStreams; ++j) acc[j] = zero();
  for (int64_t i = 0; i + kLanes <= length; i += kLanes) {
#pragma GCC unroll 4
    for (int j = 0; j < kStreams; ++j) acc[j] = max(load(data + j * length + i), acc[j]);
  }
  return max_lane(max(max(acc[0], acc[1]), max(acc[2], acc[3])));
}

}  // namespace
}  // namespace hone::kernels::cpu::HONE_TARGET
