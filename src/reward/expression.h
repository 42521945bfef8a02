// Arithmetic expressions of whole numbers with + - * / and brackets, in exact fractions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct ExpressionValue {
  // Empty when the expression is well formed, and has a value if `numbers` fit; otherwise what is wrong.
  std::string fault;
  bool equals_target = false;
};

// An upper bound of what evaluating can reach: with every number used once, numerator and denominator stay below
// prod(|x| + 1), because (|a| + |b|) (|c| + |d|) bounds both terms of a/b + c/d, a/b - c/d, a/b * c/d and a/b / (c/d).
// Times |target| + 1 that must stay below 2^126.
bool fits_exactly(std::span<const int64_t> numbers, int64_t target);

// `numbers` must fit. Uses of numbers are compared as multisets before anything is computed.
ExpressionValue evaluate_expression(std::string_view text, std::vector<int64_t> numbers, int64_t target);

}  // namespace hone
