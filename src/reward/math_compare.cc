#include "reward/math_compare.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reward/formula.h"
#include "reward/formula_residue.h"
#include "reward/formula_value.h"
#include "reward/judgement.h"
#include "reward/unit_words.h"

namespace hone {

namespace {

constexpr int64_t kMaxSteps = 60'000;
constexpr int kNumPoints = 4;
constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
using Kind = FormulaKind;
using Complex = std::complex<double>;

// One side of a comparison: a node of its formula, and what plus_minus stands for.
struct Side {
  const Formula* formula = nullptr;
  int32_t node = 0;
  int sign = 1;
  const FormulaNode& get() const { return formula->at(node); }
  Side child(size_t i) const { return {formula, get().children[i], sign}; }
  size_t num_children() const { return get().children.size(); }
};

bool contains(const Side& side, Kind kind) {
  if (side.get().kind == kind) return true;
  for (size_t i = 0; i < side.num_children(); ++i) {
    if (contains(side.child(i), kind)) return true;
  }
  return false;
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

Side last_child(const Side& side) { return side.child(side.num_children() - 1); }
// "x = 5" and not "x < 5".
bool says_value(const Side& relation) { return relation.get().text.find_first_of("<>!") == std::string::npos; }
Side value_of(Side side) {
  while (side.get().kind == Kind::relation && says_value(side)) side = last_child(side);
  return side;
}
bool is_number(const Side& side) { return side.get().kind <= Kind::with_unit; }
bool is_none(const FormulaValue& value) { return value.state == FormulaValue::State::none; }

// What an answer is a list of.
struct Elements {
  std::vector<Side> sides;
  bool in_any_order = false;
  std::string brackets;  // of a tuple or an interval; "{}" of a set; empty: none
};

class Comparison {
 public:
  explicit Comparison(const CompareRules& rules) : rules_(rules), budget_{kMaxSteps} {}

  Verdict compare(Side a, Side b) {
    if (!budget_.take()) return Verdict::undecided;
    if (a.get().kind == Kind::relation || b.get().kind == Kind::relation) return compare_relations(a, b);
    if (const auto verdict = compare_wrapped(a, b)) return *verdict;
    if (a.get().kind == Kind::words || b.get().kind == Kind::words) return compare_words(a, b);
    if (a.get().kind == Kind::matrix || b.get().kind == Kind::matrix) return compare_matrices(a, b);
    if (a.get().kind == Kind::join || b.get().kind == Kind::join) return compare_joins(a, b);
    if (is_list(a) || is_list(b)) return compare_lists(elements(a), elements(b));
    return compare_numbers(a, b);
  }

 private:
  static Verdict when(bool right) { return right ? Verdict::right : Verdict::wrong; }

  // Units and percent signs: both or one of them.
  std::optional<Verdict> compare_wrapped(Side a, Side b) {
    const bool unit_a = a.get().kind == Kind::with_unit, unit_b = b.get().kind == Kind::with_unit;
    if (unit_a && unit_b && a.get().text != b.get().text) return Verdict::wrong;
    if (unit_a || unit_b) {
      const auto percent = [](const Side& s) { return s.get().kind == Kind::with_unit && s.get().text == "percent"; };
      const Verdict plain = compare(unit_a ? a.child(0) : a, unit_b ? b.child(0) : b);
      if (plain == Verdict::right || percent(a) == percent(b)) return plain;
      const Side number = percent(a) ? b : a;
      return is_number(number) ? compare_hundredths((percent(a) ? a : b).child(0), number) : plain;
    }
    const bool percent_a = a.get().kind == Kind::percent, percent_b = b.get().kind == Kind::percent;
    if (percent_a == percent_b) return percent_a ? std::optional(compare(a.child(0), b.child(0))) : std::nullopt;
    const Verdict plain = compare(percent_a ? a.child(0) : a, percent_b ? b.child(0) : b);
    if (plain == Verdict::right || !is_number(percent_a ? b : a)) return plain;
    return compare_numbers(a, b);  // 50% is 50, and 0.5
  }
  Verdict compare_hundredths(Side percent, Side other) {
    Formula scaled = *percent.formula;
    scaled.nodes.push_back({Kind::percent, "", {percent.node}});
    return compare_numbers({&scaled, static_cast<int32_t>(scaled.nodes.size()) - 1, percent.sign}, other);
  }

  // x = 5 is 5; equations are the same when their differences of both sides are, but for a constant factor.
  Verdict compare_relations(Side a, Side b) {
    const bool both = a.get().kind == Kind::relation && b.get().kind == Kind::relation;
    if (!both) {
      return a.get().kind == Kind::relation ? compare_stated(a, b) : compare_stated(b, a);
    }
    const std::string signs_a = exact_signs(a), signs_b = exact_signs(b);
    const bool equations = signs_a == "=" && signs_b == "=";
    const bool named = a.child(0).get().kind == Kind::words, named_b = b.child(0).get().kind == Kind::words;
    if (a.num_children() != b.num_children() || named != named_b) {  // Area = 5 is A = 5
      const bool longer = a.num_children() > b.num_children();
      return says_value(a) && says_value(b) ? compare_stated(longer ? a : b, last_child(longer ? b : a))
                                            : Verdict::wrong;
    }
    if (signs_a == signs_b) {
      const Verdict as_given = compare_sides(a, b, false);
      if (as_given != Verdict::wrong) return as_given;
    }
    if (signs_a == mirrored(signs_b)) {
      const Verdict turned = compare_sides(a, b, true);
      if (turned != Verdict::wrong) return turned;
    }
    return equations ? compare_equations(a, b) : Verdict::wrong;
  }

  static std::string exact_signs(const Side& relation) {
    std::string signs = relation.get().text;
    replace_every(signs, "~", "=");
    return signs;
  }

  // What a relation says is its last side; of a number and what it is nearly, either.
  Verdict compare_stated(Side relation, Side other) {
    if (!says_value(relation)) return Verdict::wrong;
    const Verdict last = compare(last_child(relation), other);
    if (last == Verdict::right || !relation.get().text.ends_with('~')) return last;
    const Side exact = relation.child(relation.num_children() - 2);
    return is_near(exact, last_child(relation)) ? compare(exact, other) : last;
  }
  // Within a hundredth: a number is not stated as another one.
  bool is_near(Side a, Side b) {
    if (contains(a, Kind::symbol) || contains(b, Kind::symbol)) return false;
    const FormulaValue x = value(a, 0, std::numbers::pi), y = value(b, 0, std::numbers::pi);
    if (x.state != FormulaValue::State::known || y.state != FormulaValue::State::known) return false;
    return std::abs(x.value - y.value) <= 0.01 * std::abs(x.value);
  }

  static std::string mirrored(const std::string& signs) {
    std::vector<std::string> words(1);
    for (const char c : signs) {
      if (c == ' ') {
        words.emplace_back();
      } else {
        words.back() += c == '<' ? '>' : c == '>' ? '<' : c;
      }
    }
    std::string result;
    for (size_t i = words.size(); i-- > 0;) result += (result.empty() ? "" : " ") + words[i];
    return result;
  }

  Verdict compare_sides(Side a, Side b, bool turned) {
    Verdict all = Verdict::right;
    for (size_t i = 0; i < a.num_children() && all != Verdict::wrong; ++i) {
      const Verdict one = compare(a.child(i), b.child(turned ? b.num_children() - 1 - i : i));
      if (one != Verdict::right) all = one;
    }
    return all;
  }

  // Equations are the same when the differences of their sides, f and g, are but for a constant factor: f(p) g(q) is
  // f(q) g(p) at any two points. Without unknowns all would be the same.
  Verdict compare_equations(Side a, Side b) {
    if (!contains(a, Kind::symbol) || !contains(b, Kind::symbol)) return Verdict::wrong;
    const Side value_a = last_child(a), value_b = last_child(b);
    const bool units = value_a.get().kind == Kind::with_unit && value_b.get().kind == Kind::with_unit;
    if (units && value_a.get().text != value_b.get().text) return Verdict::wrong;
    if (const auto exact = compare_equations_exactly(a, b)) return *exact;
    return compare_equations_nearly(a, b);
  }

  std::optional<Verdict> compare_equations_exactly(Side a, Side b) {
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
  std::optional<uint64_t> difference_residue(Side equation, ResiduePlace place) {
    const auto left = residue(*equation.formula, equation.get().children[0], place, equation.sign, budget_);
    const auto right = residue(*equation.formula, equation.get().children[1], place, equation.sign, budget_);
    if (!left || !right) return {};
    const uint64_t prime = kResiduePrimes[place.which_prime];
    return (*left + prime - *right) % prime;
  }

  // A bound that is not small against how far f and g move between the points decides nothing.
  Verdict compare_equations_nearly(Side a, Side b) {
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
  FormulaValue difference(Side equation, int point) {
    const FormulaValue left = value(equation.child(0), point, std::numbers::pi);
    const FormulaValue right = value(equation.child(1), point, std::numbers::pi);
    if (left.state != FormulaValue::State::known) return left;
    if (right.state != FormulaValue::State::known) return right;
    const Complex difference = left.value - right.value;
    return {left.state, difference, left.error + right.error + kRounding * std::abs(difference)};
  }
  static FormulaValue product(const FormulaValue& a, const FormulaValue& b) {
    const double size_a = std::abs(a.value), size_b = std::abs(b.value);
    const double error = size_a * b.error + size_b * a.error + a.error * b.error + kRounding * size_a * size_b;
    return {a.state, a.value * b.value, error};
  }

  static Verdict compare_words(Side a, Side b) {
    return when(a.get().kind == b.get().kind && a.get().text == b.get().text);
  }

  // A matrix is also a list of lists.
  Verdict compare_matrices(Side a, Side b) {
    const auto is_rows = [](const Side& s) { return s.get().kind == Kind::matrix || s.get().kind == Kind::bracketed; };
    if (!is_rows(a) || !is_rows(b) || a.num_children() != b.num_children()) return Verdict::wrong;
    Verdict all = Verdict::right;
    for (size_t row = 0; row < a.num_children(); ++row) {
      const Side cells_a = a.child(row), cells_b = b.child(row);
      if (!is_list(cells_a) || !is_list(cells_b) || cells_a.num_children() != cells_b.num_children()) {
        return Verdict::wrong;
      }
      const Verdict one = compare_sides(cells_a, cells_b, false);
      if (one != Verdict::right) all = one;
      if (all == Verdict::wrong) break;
    }
    return all;
  }

  Verdict compare_joins(Side a, Side b) {
    if (a.get().kind != b.get().kind || a.get().text != b.get().text) return Verdict::wrong;
    if (a.get().text == "\\") return a.num_children() == b.num_children() ? compare_sides(a, b, false) : Verdict::wrong;
    Elements parts_a, parts_b;
    for (size_t i = 0; i < a.num_children(); ++i) parts_a.sides.push_back(a.child(i));
    for (size_t i = 0; i < b.num_children(); ++i) parts_b.sides.push_back(b.child(i));
    parts_a.in_any_order = true;
    return compare_lists(parts_a, parts_b);
  }

  static bool is_list(const Side& side) {
    const Kind kind = side.get().kind;
    return kind == Kind::list || kind == Kind::set || kind == Kind::bracketed || contains(side, Kind::plus_minus);
  }

  static Elements elements(const Side& side) {
    Elements result;
    const Kind kind = side.get().kind;
    if (kind == Kind::list || kind == Kind::set || kind == Kind::bracketed) {
      for (size_t i = 0; i < side.num_children(); ++i) add_element(result, side.child(i));
      if (kind == Kind::set || side.get().text == "or") result.in_any_order = true;
      if (kind == Kind::set) result.brackets = "{}";
      if (kind == Kind::bracketed) result.brackets = side.get().text;
    } else {
      add_element(result, side);
    }
    return result;
  }
  // "x = 2" among others is 2; plus_minus is two elements.
  static void add_element(Elements& elements, Side side) {
    if (side.sign == 1 && contains(side, Kind::plus_minus)) {
      Side minus = side;
      minus.sign = -1;
      elements.sides.push_back(side);
      elements.sides.push_back(minus);
      elements.in_any_order = true;
    } else {
      elements.sides.push_back(side);
    }
  }

  Verdict compare_lists(const Elements& a, const Elements& b) {
    if (a.sides.size() != b.sides.size()) return Verdict::wrong;
    if (!a.brackets.empty() && !b.brackets.empty() && a.brackets != b.brackets) return Verdict::wrong;
    const bool half_open = a.brackets.empty() != b.brackets.empty() && (a.brackets + b.brackets != "()") &&
                           (a.brackets + b.brackets != "{}") && (a.brackets + b.brackets != "[]");
    if (half_open) return Verdict::wrong;
    if (a.in_any_order || b.in_any_order) return compare_in_any_order(a, b);
    Verdict all = Verdict::right;
    for (size_t i = 0; i < a.sides.size() && all != Verdict::wrong; ++i) {
      const Verdict one = compare_element(a.sides[i], b.sides[i]);
      if (one != Verdict::right) all = one;
    }
    return all;
  }

  Verdict compare_in_any_order(const Elements& a, const Elements& b) {
    std::vector<bool> used(b.sides.size(), false);
    bool all_found = true, unsure = false;
    for (const Side& side : a.sides) {
      bool found = false;
      for (size_t i = 0; i < b.sides.size() && !found; ++i) {
        if (used[i]) continue;
        if (budget_.steps < 0) return Verdict::undecided;
        const Verdict one = compare_element(side, b.sides[i]);
        unsure = unsure || one == Verdict::undecided;
        found = one == Verdict::right;
        if (found) used[i] = true;
      }
      all_found = all_found && found;
    }
    return all_found ? Verdict::right : unsure ? Verdict::undecided : Verdict::wrong;
  }

  // Elements whose plus_minus has its sign already are numbers.
  Verdict compare_element(Side a, Side b) {
    const bool settled = contains(a, Kind::plus_minus) || contains(b, Kind::plus_minus);
    if (!settled) return compare(a, b);
    return compare_numbers(value_of(a), value_of(b));
  }

  Verdict compare_numbers(Side a, Side b) {
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

  std::optional<Verdict> compare_exactly(Side a, Side b) {
    for (int which = 0; which < 2; ++which) {
      const auto x = residue(*a.formula, a.node, {which, 0}, a.sign, budget_);
      const auto y = residue(*b.formula, b.node, {which, 0}, b.sign, budget_);
      if (!x || !y) return {};
      if (*x != *y) return Verdict::wrong;
    }
    return Verdict::right;
  }

  FormulaValue value(Side side, int point, double pi) {
    return evaluate(*side.formula, side.node, point, side.sign, pi, budget_);
  }

  Verdict compare_values(Side a, Side b, double tolerance, double pi) {
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

  const CompareRules& rules_;
  StepBudget budget_;
};

// Without spaces, dollar signs and \left, \right; for texts that are equal as they stand.
std::string squeezed(std::string_view text) {
  std::string result(text);
  for (const char* gone : {"\\left", "\\right", "\\!", "\\,", "\\;", "\\ ", "$", " ", "\n", "\t"}) {
    replace_every(result, gone, "");
  }
  while (!result.empty() && std::string_view(".,;").find(result.back()) != std::string_view::npos) result.pop_back();
  return result;
}

// Of a text of words, what stands in no command: "\\text{No solution}" is "nosolution". Empty for other texts.
std::string words_form(std::string text) {
  const bool commanded = text.find('{') != std::string::npos;
  for (const char* gone : {"\\text{", "\\textbf{", "\\mathrm{", "\\mbox{", "}"}) replace_every(text, gone, "");
  const bool words = std::none_of(text.begin(), text.end(), [](char c) {
    return std::string_view("0123456789\\^_+*/=<>()[]{").find(c) != std::string_view::npos;
  });
  return words && (commanded || text.size() > 2) ? lower_ascii(text) : "";
}

// A space before a letter that is a unit, as in "5 m".
bool may_have_unit_letter(std::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    const char before = text[i - 1];
    const bool space = before == ' ' || before == '~' || before == ',' || before == ';' || before == '$';
    if (space && is_unit_letter(text.substr(i, 1))) return true;
  }
  return false;
}

}  // namespace

Verdict compare_answers(std::string_view answer, std::string_view ground_truth, const CompareRules& rules) {
  if (answer == ground_truth) return Verdict::right;
  if (answer.size() > kMaxAnswerBytes || ground_truth.size() > kMaxAnswerBytes) return Verdict::wrong;
  const std::string a = squeezed(answer), b = squeezed(ground_truth);
  if (a == b) return Verdict::right;
  if (a.empty() || b.empty()) return Verdict::wrong;
  bool unsure = false;
  for (const Commas commas : {Commas::thousands, Commas::list}) {
    for (const Letters letters : {Letters::symbols, Letters::units}) {
      if (letters == Letters::units && !may_have_unit_letter(answer) && !may_have_unit_letter(ground_truth)) break;
      const auto given = parse_formula(answer, commas, letters), truth = parse_formula(ground_truth, commas, letters);
      if (!given || !truth) continue;
      const Verdict verdict = Comparison(rules).compare({&*given, given->root}, {&*truth, truth->root});
      if (verdict == Verdict::right) return verdict;
      unsure = unsure || verdict == Verdict::undecided;
    }
    if (answer.find(',') == std::string_view::npos && ground_truth.find(',') == std::string_view::npos) break;
  }
  if (unsure) return Verdict::undecided;
  const std::string words = words_form(a), of_truth = words_form(b);
  const auto same = [](const std::string& one, const std::string& other) {
    return !one.empty() && one == lower_ascii(other);
  };
  return same(words, of_truth.empty() ? b : of_truth) || same(of_truth, a) ? Verdict::right : Verdict::wrong;
}

}  // namespace hone
