#include "reward/number_compare.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <string>

namespace hone {

namespace {

constexpr int kNumPoints = 4;
constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
using Kind = FormulaKind;
using Complex = std::complex<double>;

Verdict when(bool right) { return right ? Verdict::right : Verdict::wrong; }

bool is_none(const FormulaValue& value) { return value.state == FormulaValue::State::none; }

FormulaValue product(const FormulaValue& a, const FormulaValue& b) {
  const double size_a = std::abs(a.value), size_b = std::abs(b.value);
  const double error = size_a * b.error + size_b * a.error + a.error * b.error + kRounding * size_a * size_b;
  return {a.state, a.value * b.value, error};
}

bool is_decimal(const std::string& number) {
  const size_t point = number.find('.');
  return number.find('e') != std::string::npos ||
         (point != std::string::npos && number.find_first_not_of('0', point + 1) != std::string::npos);
}
bool has_decimal(const Side& side) {
  if (side.get().kind == Kind::number && is_decimal(side.get().text)) return true;
  for (size_t i = 0; i < side.num_children(); ++i) {
    if (has_decimal(side.child(i))) return true;
  }
  return false;
}

// A whole number as it is written, with its sign; an empty text is something else.
std::string written_whole(const Side& side) {
  const FormulaNode& n = side.get();
  if (n.kind == Kind::negate) {
    const std::string inner = written_whole(side.child(0));
    return inner.empty() || inner.front() == '-' ? "" : "-" + inner;
  }
  if (n.kind != Kind::number || is_decimal(n.text)) return "";
  const std::string digits = n.text.substr(0, n.text.find('.'));
  const size_t first = digits.find_first_not_of('0');
  return first == std::string::npos ? "0" : digits.substr(first);
}
// The same of a fraction of whole numbers, its sign in front: "-3/4".
std::string written_fraction(const Side& side) {
  const FormulaNode& n = side.get();
  const auto turned = [](const std::string& text) { return text.starts_with('-') ? text.substr(1) : "-" + text; };
  if (n.kind == Kind::negate) {
    const std::string inner = written_fraction(side.child(0));
    return inner.empty() ? "" : turned(inner);
  }
  if (n.kind != Kind::divide) return "";
  const std::string above = written_whole(side.child(0)), below = written_whole(side.child(1));
  if (above.empty() || below.empty()) return "";
  return below.starts_with('-') ? turned(above) + "/" + below.substr(1) : above + "/" + below;
}

}  // namespace

Verdict NumberComparison::compare(Side a, Side b) {
  if (rules_.as_written) {
    const auto is_scientific = [](const Side& s) {
      return s.get().kind == Kind::number && s.get().text.find('e') != std::string::npos;
    };
    const bool scientific = is_scientific(a) || is_scientific(b);
    if (!scientific && written_whole(a).empty() != written_whole(b).empty()) return Verdict::wrong;
    const std::string fraction_a = written_fraction(a), fraction_b = written_fraction(b);
    if (!fraction_a.empty() && !fraction_b.empty()) return when(fraction_a == fraction_b);
  }
  const bool may_differ = rules_.tolerance > 0 && (has_decimal(a) || has_decimal(b));
  if (const auto exact = compare_exactly(a, b); exact && (*exact == Verdict::right || !may_differ)) return *exact;
  const Verdict verdict = compare_values(a, b, may_differ ? rules_.tolerance : 0, std::numbers::pi);
  const bool has_pi = contains(a, Kind::pi) != contains(b, Kind::pi);
  if (verdict != Verdict::wrong || !may_differ || !has_pi) return verdict;
  return compare_values(a, b, rules_.tolerance, 3.14);
}

std::optional<Verdict> NumberComparison::compare_exactly(Side a, Side b) {
  for (int which = 0; which < 2; ++which) {
    const auto x = residue(*a.formula, a.node, {which, 0}, a.sign, budget_);
    const auto y = residue(*b.formula, b.node, {which, 0}, b.sign, budget_);
    if (!x || !y) return {};
    if (*x != *y) return Verdict::wrong;
  }
  return Verdict::right;
}

FormulaValue NumberComparison::value(Side side, int point, double pi) {
  return evaluate(*side.formula, side.node, point, side.sign, pi, budget_);
}

Verdict NumberComparison::compare_values(Side a, Side b, double tolerance, double pi) {
  bool decided = false;
  const bool constant = !contains(a, Kind::symbol) && !contains(b, Kind::symbol);
  for (int point = 0; point < (constant ? 1 : kNumPoints); ++point) {
    const FormulaValue x = value(a, point, pi), y = value(b, point, pi);
    if (is_none(x) != is_none(y)) return Verdict::wrong;  // a number and a list, say
    if (is_none(x)) return Verdict::undecided;
    if (x.state == FormulaValue::State::unknown || y.state == FormulaValue::State::unknown) return Verdict::undecided;
    if (x.state != y.state) return Verdict::wrong;
    if (x.state == FormulaValue::State::undefined) continue;
    const double difference = std::abs(x.value - y.value), error = x.error + y.error;
    const double size = std::max(std::abs(x.value), std::abs(y.value));
    // a number within 1e-4 of its larger one: the last bits of that bound are not to decide
    if (difference > std::max(tolerance * size * (1 + 1e-9), error)) return Verdict::wrong;
    if (tolerance == 0 && error > 1e-9 * std::max(1.0, size)) return Verdict::undecided;
    decided = true;
  }
  return decided ? Verdict::right : Verdict::undecided;
}

Verdict NumberComparison::compare_equations(Side a, Side b) {
  if (!contains(a, Kind::symbol) || !contains(b, Kind::symbol)) return Verdict::wrong;
  const Side value_a = last_child(a), value_b = last_child(b);
  const bool units = value_a.get().kind == Kind::with_unit && value_b.get().kind == Kind::with_unit;
  if (units && value_a.get().text != value_b.get().text) return Verdict::wrong;
  if (const auto exact = compare_equations_exactly(a, b)) return *exact;
  return compare_equations_nearly(a, b);
}

std::optional<Verdict> NumberComparison::compare_equations_exactly(Side a, Side b) {
  for (int which = 0; which < 2; ++which) {
    const uint64_t prime = kResiduePrimes[which];
    std::optional<uint64_t> f[2], g[2];
    for (int point = 0; point < 2; ++point) {
      f[point] = difference_residue(a, {which, point});
      g[point] = difference_residue(b, {which, point});
      if (!f[point] || !g[point]) return {};
    }
    const bool f_vanishes = *f[0] == 0 && *f[1] == 0, g_vanishes = *g[0] == 0 && *g[1] == 0;
    if (f_vanishes != g_vanishes) return Verdict::wrong;
    if (multiply_residues(*f[0], *g[1], prime) != multiply_residues(*f[1], *g[0], prime)) return Verdict::wrong;
  }
  return Verdict::right;
}

std::optional<uint64_t> NumberComparison::difference_residue(Side equation, ResiduePlace place) {
  const auto left = residue(*equation.formula, equation.get().children[0], place, equation.sign, budget_);
  const auto right = residue(*equation.formula, equation.get().children[1], place, equation.sign, budget_);
  if (!left || !right) return {};
  const uint64_t prime = kResiduePrimes[place.which_prime];
  return (*left + prime - *right) % prime;
}

// A bound that is not small against how far f and g move between the points decides nothing.
Verdict NumberComparison::compare_equations_nearly(Side a, Side b) {
  FormulaValue f0, g0;
  bool f_vanishes = true, g_vanishes = true, decided = true;
  for (int point = 0; point < kNumPoints; ++point) {
    const FormulaValue f = difference(a, point), g = difference(b, point);
    if (is_none(f) || is_none(g)) return Verdict::wrong;  // of lists: they have been compared side by side
    if (f.state != FormulaValue::State::known || g.state != FormulaValue::State::known) return Verdict::undecided;
    f_vanishes = f_vanishes && std::abs(f.value) <= f.error;
    g_vanishes = g_vanishes && std::abs(g.value) <= g.error;
    if (point == 0) {
      f0 = f, g0 = g;
      continue;
    }
    const FormulaValue one = product(f, g0), other = product(f0, g);
    const double error = one.error + other.error;
    if (std::abs(one.value - other.value) > error) return Verdict::wrong;
    const double moved =
        std::abs(f.value - f0.value) * std::abs(g0.value) + std::abs(f0.value) * std::abs(g.value - g0.value);
    decided = decided && error <= 1e-7 * moved;
  }
  if (f_vanishes || g_vanishes) return when(f_vanishes && g_vanishes);
  return decided ? Verdict::right : Verdict::undecided;
}

FormulaValue NumberComparison::difference(Side equation, int point) {
  const FormulaValue left = value(equation.child(0), point, std::numbers::pi);
  const FormulaValue right = value(equation.child(1), point, std::numbers::pi);
  if (left.state != FormulaValue::State::known) return left;
  if (right.state != FormulaValue::State::known) return right;
  const Complex difference = left.value - right.value;
  return {left.state, difference, left.error + right.error + kRounding * std::abs(difference)};
}

bool NumberComparison::are_near(Side a, Side b) {
  if (contains(a, Kind::symbol) || contains(b, Kind::symbol)) return false;
  const FormulaValue x = value(a, 0, std::numbers::pi), y = value(b, 0, std::numbers::pi);
  if (x.state != FormulaValue::State::known || y.state != FormulaValue::State::known) return false;
  return std::abs(x.value - y.value) <= 0.01 * std::abs(x.value);
}

}  // namespace hone
