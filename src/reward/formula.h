// Formula: an answer in LaTeX or plain notation as a tree: numbers, symbols, operations, and around these lists, sets,
// intervals, matrices, relations, units and words. Not here: what it is worth (formula_value.h, formula_residue.h) and
// when two are the same answer (math_compare.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

enum class FormulaKind : uint8_t {
  number,      // text: digits, perhaps with a point
  symbol,      // text: its name, e.g. "x", "alpha", "x_1", "infinity"
  pi,          //
  euler,       // e
  imaginary,   // i
  add,         // children: terms
  multiply,    // children: factors
  divide,      // 2 children
  power,       // 2 children
  negate,      // 1 child
  plus_minus,  // 1 child: plus or minus it
  function,    // text: "sin"; 1 child
  root,        // 2 children: radicand, degree
  logarithm,   // 2 children: argument, base
  binomial,    // 2 children
  factorial,   // 1 child
  percent,     // 1 child
  with_unit,   // text: unit; 1 child
  words,       // text: in lower case
  list,        // children; text: "" as given, "or" in any order
  set,         // children, in any order
  bracketed,   // children; text: its two brackets, e.g. "(]": a tuple or an interval
  join,        // children; text: "U" union, "N" intersection, "\\" difference
  matrix,      // children: rows, each a list
  relation,    // children: its sides, the first may be words; text: the signs between, of = ~ < <= > >= != in
};

struct FormulaNode {
  FormulaKind kind = FormulaKind::number;
  std::string text = {};
  std::vector<int32_t> children = {};
  bool brackets = false;  // a number or fraction in brackets is no part of a mixed number
};

struct Formula {
  std::vector<FormulaNode> nodes;
  int32_t root = 0;
  const FormulaNode& at(int32_t node) const { return nodes[static_cast<size_t>(node)]; }
  const FormulaNode& child(const FormulaNode& node, size_t i) const { return at(node.children[i]); }
};

// How "1,234" is read: as one number where commas separate groups of three, or as a list.
enum class Commas { thousands, list };

// How the m of "5 m" is read: as a symbol, or as a unit where such a letter stands behind a number and a space.
enum class Letters { symbols, units };

// Nothing when the text is no formula, or nested deeper than 50 levels.
std::optional<Formula> parse_formula(std::string_view text, Commas commas, Letters letters = Letters::symbols);

}  // namespace hone
