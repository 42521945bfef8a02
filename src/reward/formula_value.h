// The value of an expression in floating point, with a bound of its error.
#pragma once

#include <complex>
#include <cstdint>

#include "reward/formula.h"

namespace hone {

// How many nodes may still be looked at; a comparison that uses it up is undecided.
struct StepBudget {
  int64_t steps = 0;
  bool take(int64_t count = 1) { return (steps -= count) >= 0; }
};

struct FormulaValue {
  // unknown = the budget is used up, a number leaves the range of double, or there is no value at all (a list, say)
  enum class State { known, undefined, unknown } state = State::known;
  std::complex<double> value;
  double error = 0;  // bound of |value - true value|
};

// Symbols get values that depend on their names and on `point`: 0 and 1 all positive, 2 and 3 of both signs. `sign` is
// what plus_minus stands for, `pi` what stands for pi.
FormulaValue evaluate(const Formula& formula, int32_t node, int point, int sign, double pi, StepBudget& budget);

}  // namespace hone
