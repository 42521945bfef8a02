// The value of an expression modulo a large prime, at a point drawn from the names of its symbols: two rational
// expressions that agree there are equal, but for a chance of about degree / 2^61 (Schwartz 1980); two that differ are
// not. So whole numbers, fractions and polynomials of any size are compared exactly, without any simplification.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reward/formula_value.h"

namespace hone {

inline constexpr uint64_t kResiduePrimes[] = {(uint64_t{1} << 61) - 1, (uint64_t{1} << 61) - 31};

// Which of the primes, and which of the two points (0 or 1): symbols get values by their names and the point; the
// constants pi and e, which fulfil no rational equation, by their names alone.
struct ResiduePlace {
  int which_prime = 0, point = 0;
};

// Nothing where the expression is not rational (roots, functions, exponents that are no numbers), divides by zero
// there, or the budget is used up. `sign` is that of ±.
std::optional<uint64_t> residue(const Formula& formula, int32_t node, ResiduePlace place, int sign, StepBudget& budget);

uint64_t multiply_residues(uint64_t a, uint64_t b, uint64_t prime);

// 64 bits that depend on the name and the point alone.
uint64_t symbol_bits(const std::string& name, int point);

}  // namespace hone
