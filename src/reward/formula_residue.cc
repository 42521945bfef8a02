#include "reward/formula_residue.h"

#include <algorithm>
#include <cstdlib>

namespace hone {

namespace {

__extension__ using WideProduct = unsigned __int128;

uint64_t power_residue(uint64_t base, uint64_t exponent, uint64_t prime) {
  uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = multiply_residues(result, base, prime);
    base = multiply_residues(base, base, prime);
  }
  return result;
}

class ResidueEvaluator {
 public:
  ResidueEvaluator(const Formula& formula, ResiduePlace place, int sign, StepBudget& budget)
      : formula_(formula), prime_(kResiduePrimes[place.which_prime]), place_(place), sign_(sign), budget_(budget) {}

  std::optional<uint64_t> of(int32_t index) {
    if (!budget_.take()) return {};
    const FormulaNode& n = formula_.at(index);
    switch (n.kind) {
      case FormulaKind::number:
        return number(n.text);
      case FormulaKind::symbol:
        return symbol_bits(n.text, 2 * place_.point + place_.which_prime) % prime_;
      case FormulaKind::pi:
        return symbol_bits("the number pi", place_.which_prime) % prime_;
      case FormulaKind::euler:
        return symbol_bits("the number e", place_.which_prime) % prime_;
      case FormulaKind::add:
        return sum(n);
      case FormulaKind::negate:
        return signed_value(n, -1);
      case FormulaKind::plus_minus:
        return signed_value(n, sign_);
      case FormulaKind::with_unit:
        return of(n.children[0]);
      case FormulaKind::percent:
        return quotient(of(n.children[0]), 100);
      case FormulaKind::multiply: {
        const auto a = of(n.children[0]), b = of(n.children[1]);
        if (!a || !b) return {};
        return multiply_residues(*a, *b, prime_);
      }
      case FormulaKind::divide:
        return quotient(of(n.children[0]), of(n.children[1]));
      case FormulaKind::power:
        return power(n);
      case FormulaKind::factorial:
        return factorial(n);
      case FormulaKind::binomial:
        return binomial(n);
      default:
        return {};
    }
  }

 private:
  std::optional<uint64_t> number(const std::string& text) {
    uint64_t value = 0;
    int64_t decimals = 0;
    bool after_point = false;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == 'e') {
        const long exponent = std::strtol(text.c_str() + i + 1, nullptr, 10);
        if (exponent > 100000 || exponent < -100000) return {};
        decimals -= exponent;
        break;
      }
      if (text[i] == '.') {
        after_point = true;
        continue;
      }
      value = (multiply_residues(value, 10, prime_) + static_cast<uint64_t>(text[i] - '0')) % prime_;
      decimals += after_point;
    }
    const uint64_t scale = power_residue(10, static_cast<uint64_t>(std::abs(decimals)), prime_);
    return decimals > 0 ? quotient(value, scale) : multiply_residues(value, scale, prime_);
  }

  std::optional<uint64_t> sum(const FormulaNode& n) {
    uint64_t total = 0;
    for (const int32_t child : n.children) {
      const auto term = of(child);
      if (!term) return {};
      total = (total + *term) % prime_;
    }
    return total;
  }

  std::optional<uint64_t> signed_value(const FormulaNode& n, int sign) {
    const auto value = of(n.children[0]);
    return value && sign < 0 ? (prime_ - *value) % prime_ : value;
  }

  std::optional<uint64_t> quotient(std::optional<uint64_t> above, std::optional<uint64_t> below) const {
    if (!above || !below || *below == 0) return {};
    return multiply_residues(*above, power_residue(*below, prime_ - 2, prime_), prime_);
  }

  // A whole number that is written out, for exponents: of at most 2^62, so that it can be negated.
  std::optional<int64_t> whole(int32_t index) {
    const auto value = whole_of(index);
    constexpr int64_t kLargest = int64_t{1} << 62;
    return value && *value >= -kLargest && *value <= kLargest ? value : std::nullopt;
  }
  std::optional<int64_t> whole_of(int32_t index) {
    if (!budget_.take()) return {};
    const FormulaNode& n = formula_.at(index);
    int64_t result = 0;
    switch (n.kind) {
      case FormulaKind::number:
        if (n.text.size() > 18 || n.text.find_first_of(".e") != std::string::npos) return {};
        return std::strtoll(n.text.c_str(), nullptr, 10);
      case FormulaKind::negate: {
        const auto value = whole(n.children[0]);
        return value ? std::optional(-*value) : value;
      }
      case FormulaKind::add:
        for (const int32_t child : n.children) {
          const auto term = whole(child);
          if (!term || __builtin_add_overflow(result, *term, &result)) return {};
        }
        return result;
      case FormulaKind::multiply: {
        const auto a = whole(n.children[0]), b = whole(n.children[1]);
        if (!a || !b || __builtin_mul_overflow(*a, *b, &result)) return {};
        return result;
      }
      case FormulaKind::power: {
        const auto a = whole(n.children[0]), b = whole(n.children[1]);
        if (!a || !b || *b < 0 || *b > 62) return {};
        result = 1;
        for (int64_t i = 0; i < *b; ++i) {
          if (__builtin_mul_overflow(result, *a, &result)) return {};
        }
        return result;
      }
      default:
        return {};
    }
  }

  std::optional<uint64_t> power(const FormulaNode& n) {
    const auto base = of(n.children[0]);
    const auto exponent = whole(n.children[1]);
    if (!base || !exponent) return {};
    if (*base == 0 && *exponent <= 0) return {};
    const uint64_t result = power_residue(*base, static_cast<uint64_t>(std::abs(*exponent)), prime_);
    return *exponent < 0 ? quotient(uint64_t{1}, result) : result;
  }

  std::optional<uint64_t> product(int64_t from, int64_t to) {
    if (to - from > 5000 || !budget_.take(std::max<int64_t>(0, to - from))) return {};
    uint64_t result = 1;
    for (int64_t k = from; k <= to; ++k) result = multiply_residues(result, static_cast<uint64_t>(k), prime_);
    return result;
  }
  std::optional<uint64_t> factorial(const FormulaNode& n) {
    const auto of_what = whole(n.children[0]);
    return of_what && *of_what >= 0 ? product(1, *of_what) : std::nullopt;
  }
  std::optional<uint64_t> binomial(const FormulaNode& n) {
    const auto from = whole(n.children[0]), of_what = whole(n.children[1]);
    if (!from || !of_what || *of_what < 0 || *from < *of_what || *from > 1'000'000'000) return {};
    const int64_t k = std::min(*of_what, *from - *of_what);
    return quotient(product(*from - k + 1, *from), product(1, k));
  }

  const Formula& formula_;
  uint64_t prime_;
  ResiduePlace place_;
  int sign_;
  StepBudget& budget_;
};

}  // namespace

uint64_t multiply_residues(uint64_t a, uint64_t b, uint64_t prime) {
  return static_cast<uint64_t>(WideProduct{a} * b % prime);
}

uint64_t symbol_bits(const std::string& name, int point) {
  uint64_t bits = 0xCBF29CE484222325 + static_cast<uint64_t>(point) * 0x9E3779B97F4A7C15;
  for (const char c : name) bits = (bits ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  bits ^= bits >> 30;  // SplitMix64
  bits *= 0xBF58476D1CE4E5B9;
  bits ^= bits >> 27;
  bits *= 0x94D049BB133111EB;
  return bits ^ (bits >> 31);
}

std::optional<uint64_t> residue(const Formula& formula, int32_t node, ResiduePlace place, int sign,
                                StepBudget& budget) {
  return ResidueEvaluator(formula, place, sign, budget).of(node);
}

}  // namespace hone
