// Side: a part of a formula, as one side of a comparison.
#pragma once

#include "reward/formula.h"

namespace hone {

// A node of a formula, and what plus_minus stands for in it.
struct Side {
  const Formula* formula = nullptr;
  int32_t node = 0;
  int sign = 1;
  const FormulaNode& get() const { return formula->at(node); }
  Side child(size_t i) const { return {formula, get().children[i], sign}; }
  size_t num_children() const { return get().children.size(); }
};

inline Side last_child(const Side& side) { return side.child(side.num_children() - 1); }

inline bool contains(const Side& side, FormulaKind kind) {
  if (side.get().kind == kind) return true;
  for (size_t i = 0; i < side.num_children(); ++i) {
    if (contains(side.child(i), kind)) return true;
  }
  return false;
}

}  // namespace hone
