#include "reward/formula_value.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <string>

#include "reward/formula_residue.h"

namespace hone {

namespace {

using Complex = std::complex<double>;
using State = FormulaValue::State;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

FormulaValue no_value(State state) { return {state, {}, 0}; }

// A result whose inputs were off by as much as `inherited` says.
FormulaValue checked(Complex value, double inherited) {
  const double size = std::abs(value);
  if (std::isnan(size)) return no_value(State::undefined);
  if (!(size < 1e300)) return no_value(State::unknown);
  return {State::known, value, inherited + 4 * kEpsilon * size};
}

class Evaluator {
 public:
  Evaluator(const Formula& formula, int point, int sign, double pi, StepBudget& budget)
      : formula_(formula), point_(point), sign_(sign), pi_(pi), budget_(budget) {}

  FormulaValue of(int32_t index) {
    if (!budget_.take()) return no_value(State::unknown);
    const FormulaNode& n = formula_.at(index);
    switch (n.kind) {
      case FormulaKind::number:
        return checked(std::strtod(n.text.c_str(), nullptr), 0);
      case FormulaKind::symbol:
        return {State::known, symbol_value(n.text), 0};
      case FormulaKind::pi:
        return {State::known, pi_, kEpsilon * 4};
      case FormulaKind::euler:
        return {State::known, std::numbers::e, kEpsilon * 4};
      case FormulaKind::imaginary:
        return {State::known, Complex(0, 1), 0};
      case FormulaKind::add:
        return sum(n);
      case FormulaKind::with_unit:
      case FormulaKind::percent:
      case FormulaKind::negate:
      case FormulaKind::plus_minus:
      case FormulaKind::function:
      case FormulaKind::factorial:
        return unary(n);
      case FormulaKind::multiply:
      case FormulaKind::divide:
      case FormulaKind::power:
      case FormulaKind::root:
      case FormulaKind::logarithm:
      case FormulaKind::binomial:
        return binary(n);
      default:
        return no_value(State::none);
    }
  }

 private:
  Complex symbol_value(const std::string& name) const {
    const auto bits = static_cast<double>(symbol_bits(name, point_) >> 11) * 0x1p-53;  // [0, 1)
    const double size = 0.3 + 1.4 * bits;
    const bool minus = (symbol_bits(name, 2) & 1) != 0;
    const bool negative = point_ == 2 ? minus : point_ == 3 && !minus;
    return negative ? -size : size;
  }

  FormulaValue sum(const FormulaNode& n) {
    Complex total = 0;
    double error = 0;
    for (const int32_t child : n.children) {
      const FormulaValue term = of(child);
      if (term.state != State::known) return term;
      total += term.value;
      error += term.error + kEpsilon * (std::abs(term.value) + std::abs(total));
    }
    return checked(total, error);
  }

  FormulaValue unary(const FormulaNode& n) {
    const FormulaValue x = of(n.children[0]);
    if (x.state != State::known) return x;
    switch (n.kind) {
      case FormulaKind::percent:
        return checked(x.value / 100.0, x.error / 100);
      case FormulaKind::negate:
        return {State::known, -x.value, x.error};
      case FormulaKind::plus_minus:
        return {State::known, x.value * double(sign_), x.error};
      case FormulaKind::factorial:
        return factorial(x);
      case FormulaKind::function:
        return function(n, x);
      default:  // a unit
        return x;
    }
  }

  static FormulaValue factorial(const FormulaValue& x) {
    const double n = x.value.real();
    if (x.value.imag() != 0 || n < 0 || n != std::floor(n)) return no_value(State::undefined);
    if (n > 170) return no_value(State::unknown);
    double product = 1;
    for (double k = 2; k <= n; ++k) product *= k;
    return checked(product, product * n * kEpsilon);
  }

  FormulaValue function(const FormulaNode& n, FormulaValue x) {
    const FormulaNode& argument = formula_.child(n, 0);
    const std::string& name = n.text;
    if (argument.kind == FormulaKind::with_unit && argument.text == "degree") {
      x = checked(x.value * pi_ / 180.0, x.error * pi_ / 180);
    }
    if (name == "abs") return checked(std::abs(x.value), x.error);
    if (name == "floor" || name == "ceil") return rounded(name == "floor", x);
    const Complex y = apply(name, x.value);
    // the slope, by a difference that is wide enough to see it and narrow enough to bound it
    const double step = 1e-4 * (1 + std::abs(x.value));
    const double slope =
        std::abs(apply(name, x.value + step) - y) / step + std::abs(apply(name, x.value - step) - y) / step;
    if (std::isnan(slope)) return no_value(State::undefined);
    return checked(y, 2 * (slope + 1e-3) * (x.error + kEpsilon * std::abs(x.value)));
  }

  static FormulaValue rounded(bool down, const FormulaValue& x) {
    if (x.value.imag() != 0) return no_value(State::undefined);
    const double v = x.value.real();
    if (std::abs(v - std::round(v)) <= x.error && x.error > 4 * kEpsilon * std::abs(v)) return no_value(State::unknown);
    return checked(down ? std::floor(v) : std::ceil(v), 0);
  }

  static Complex apply(const std::string& name, Complex x) {
    if (name == "sin") return std::sin(x);
    if (name == "cos") return std::cos(x);
    if (name == "tan") return std::tan(x);
    if (name == "cot") return 1.0 / std::tan(x);
    if (name == "sec") return 1.0 / std::cos(x);
    if (name == "csc") return 1.0 / std::sin(x);
    if (name == "arcsin" || name == "asin") return std::asin(x);
    if (name == "arccos" || name == "acos") return std::acos(x);
    if (name == "arctan" || name == "atan") return std::atan(x);
    if (name == "sinh") return std::sinh(x);
    if (name == "cosh") return std::cosh(x);
    if (name == "tanh") return std::tanh(x);
    if (name == "ln") return std::log(x);
    if (name == "log" || name == "lg") return std::log(x) / std::numbers::ln10;
    return std::numeric_limits<double>::quiet_NaN();
  }

  FormulaValue binary(const FormulaNode& n) {
    const FormulaValue a = of(n.children[0]);
    if (a.state != State::known) return a;
    const FormulaValue b = of(n.children[1]);
    if (b.state != State::known) return b;
    const double size_a = std::abs(a.value), size_b = std::abs(b.value);
    switch (n.kind) {
      case FormulaKind::multiply:
        return checked(a.value * b.value, size_a * b.error + size_b * a.error + a.error * b.error);
      case FormulaKind::divide: {
        if (size_b <= b.error) return no_value(size_b == 0 || b.error < 1e-12 ? State::undefined : State::unknown);
        const Complex quotient = a.value / b.value;
        return checked(quotient, (a.error + std::abs(quotient) * b.error) / (size_b - b.error));
      }
      case FormulaKind::power:
        return power(a, b);
      case FormulaKind::root:
        if (size_b == 0) return no_value(State::undefined);
        if (a.value.imag() == 0 && a.value.real() < 0 && b.value == Complex(3)) {  // the real cube root
          return checked(-std::cbrt(-a.value.real()), a.error / std::pow(size_a, 2.0 / 3));
        }
        if (b.value == Complex(2)) return square_root(a);
        return power(a, {State::known, 1.0 / b.value, b.error / (size_b * size_b) + kEpsilon});
      case FormulaKind::logarithm: {
        if (size_a == 0 || size_b == 0 || b.value == Complex(1)) return no_value(State::undefined);
        const Complex below = std::log(b.value), result = std::log(a.value) / below;
        const double error = a.error / size_a + std::abs(result) * b.error / size_b + kEpsilon;
        return checked(result, error / std::abs(below));
      }
      default:
        return binomial(a, b);
    }
  }

  static FormulaValue square_root(const FormulaValue& a) {
    const double size = std::sqrt(std::abs(a.value));
    return checked(std::sqrt(a.value),
                   a.error <= 0 ? 0 : std::min(std::sqrt(a.error), a.error / std::max(size, 1e-300)));
  }

  static FormulaValue power(const FormulaValue& a, const FormulaValue& b) {
    const double size = std::abs(a.value);
    if (size <= a.error || size == 0) {
      if (b.value == Complex(0)) return {State::known, 1, 0};
      if (b.value.real() > 0 && size == 0) return {State::known, 0, std::pow(a.error, b.value.real())};
      if (size == 0) return no_value(State::undefined);
    }
    const double real = b.value.real();
    const bool by_products = b.value.imag() == 0 && real == std::floor(real) && std::abs(real) < 1e9;
    const Complex result =
        by_products && a.value.imag() == 0 ? Complex(std::pow(a.value.real(), real)) : std::pow(a.value, b.value);
    const double relative = std::abs(b.value) * (a.error / size + kEpsilon) + std::abs(std::log(size)) * b.error +
                            kEpsilon * std::abs(b.value) * std::abs(std::log(size));
    return checked(result, std::abs(result) * relative);
  }

  static FormulaValue binomial(const FormulaValue& a, const FormulaValue& b) {
    const double n = a.value.real(), k = b.value.real();
    const bool whole = a.value.imag() == 0 && b.value.imag() == 0 && n == std::floor(n) && k == std::floor(k);
    if (!whole || n < 0 || k < 0) return no_value(State::undefined);
    if (k > n) return {State::known, 0, 0};
    if (n > 1000) return no_value(State::unknown);
    double product = 1;
    for (double i = 1; i <= std::min(k, n - k); ++i) product = product * (n - i + 1) / i;
    return checked(product, product * n * 2 * kEpsilon);
  }

  const Formula& formula_;
  int point_, sign_;
  double pi_;
  StepBudget& budget_;
};

}  // namespace

FormulaValue evaluate(const Formula& formula, int32_t node, int point, int sign, double pi, StepBudget& budget) {
  return Evaluator(formula, point, sign, pi, budget).of(node);
}

}  // namespace hone
