// When two answers are the same: numbers, fractions, radicals, percentages, expressions, equations, sets, intervals,
// tuples, matrices, with or without units. Rational expressions are compared exactly (formula_residue.h), the others in
// floating point with a bound of the error (formula_value.h). Always ends: there is a budget of steps.
#pragma once

#include <string_view>

#include "records/trajectory.h"

namespace hone {

struct CompareRules {
  // Two numbers of which one is written as a decimal fraction may differ by this share of the larger. 0: not at all.
  double tolerance = 1e-4;
  // A fraction has to be as it is in the ground truth (3/6 is not 1/2), and a whole number written as one.
  bool as_written = false;
};

// right, wrong, or undecided where the budget or the range of numbers does not suffice. Texts that are no formulas are
// right when they are equal but for spaces and case.
Verdict compare_answers(std::string_view answer, std::string_view ground_truth, const CompareRules& rules);

}  // namespace hone
