// Mutation: inputs made from other inputs, as a function of a seed: flips, splices, truncation, words of a dictionary,
// numbers, length fields, repeated pieces, balanced nesting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/target.h"

namespace hone::fuzz {

// SplitMix64: small, and the same everywhere.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  size_t below(size_t bound) { return bound == 0 ? 0 : static_cast<size_t>(next() % bound); }
  bool one_in(size_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

// Changes `input` by a few steps; `corpus` is what it may be spliced with. Mostly it stays short; one input in some
// thousands grows to tens of kilobytes, so that time which is not linear and recursion without an end show.
void mutate(std::string& input, const std::vector<std::string>& corpus, const Material& material, Dice& dice);

}  // namespace hone::fuzz
