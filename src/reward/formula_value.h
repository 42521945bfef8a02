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
  // undefined = division by zero and the like; unknown = the budget is used up, or a number leaves the range of double;
  // none = it is no number at all: a list, words, a relation
  enum class State { known, undefined, unknown, none } state = State::known;
  std::complex<double> value;
  double error = 0;  // bound of |value - true value|
};

// Symbols get values that depend on their names and on `point`: at 0 and 1 all are positive, at 2 some are negative,
// and at 3 the others. `sign` is what plus_minus stands for, `pi` what stands for pi.
FormulaValue evaluate(const Formula& formula, int32_t node, int point, int sign, double pi, StepBudget& budget);

}  // namespace hone
