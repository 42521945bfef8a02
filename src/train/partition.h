// Partition: numbers dealt into sets of nearly equal sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hone {

// The largest differencing method (Karmarkar and Karp 1982) for k sets: states of k sets each, the two of the widest
// spread merged, the largest set of one with the smallest of the other, until one is left. Ties go to what came first,
// so the result is a function of the numbers alone. Sets hold indices upwards and stand in the order of their first
// one, empty ones (k above the count) last. 1 <= k.
std::vector<std::vector<size_t>> karmarkar_karp(std::span<const int64_t> numbers, size_t k);

}  // namespace hone
