// NumberComparison: whether two formulas are the same number, or two equations the same. First exactly, by residues at
// random points under two primes (formula_residue.h); what has none is compared by values with bounds of their errors
// (formula_value.h).
#pragma once

#include <optional>

#include "records/trajectory.h"
#include "reward/formula_residue.h"
#include "reward/formula_side.h"
#include "reward/formula_value.h"
#include "reward/math_compare.h"

namespace hone {

class NumberComparison {
 public:
  // Both have to live as long.
  NumberComparison(const CompareRules& rules, StepBudget& budget) : rules_(rules), budget_(budget) {}

  Verdict compare(Side a, Side b);
  // Of relations of two sides with "=": the same when the differences of their sides, f and g, are but for a constant
  // factor: f(p) g(q) is f(q) g(p) at any two points. Without unknowns all would be the same.
  Verdict compare_equations(Side a, Side b);
  // Numbers within a hundredth.
  bool are_near(Side a, Side b);

 private:
  std::optional<Verdict> compare_exactly(Side a, Side b);
  Verdict compare_values(Side a, Side b, double tolerance, double pi);
  std::optional<Verdict> compare_equations_exactly(Side a, Side b);
  std::optional<uint64_t> difference_residue(Side equation, ResiduePlace place);
  Verdict compare_equations_nearly(Side a, Side b);
  FormulaValue difference(Side equation, int point);
  FormulaValue value(Side side, int point, double pi);

  const CompareRules& rules_;
  StepBudget& budget_;
};

}  // namespace hone
