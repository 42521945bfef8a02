#include "reward/math_compare.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reward/formula.h"
#include "reward/formula_side.h"
#include "reward/judgement.h"
#include "reward/number_compare.h"
#include "reward/unit_words.h"

namespace hone {

namespace {

constexpr int64_t kMaxSteps = 60'000;
using Kind = FormulaKind;

// "x = 5" and not "x < 5".
bool says_value(const Side& relation) { return relation.get().text.find_first_of("<>!") == std::string::npos; }
Side value_of(Side side) {
  while (side.get().kind == Kind::relation && says_value(side)) side = last_child(side);
  return side;
}
bool is_number(const Side& side) { return side.get().kind <= Kind::with_unit; }
// What an answer is a list of.
struct Elements {
  std::vector<Side> sides;
  bool in_any_order = false;
  std::string brackets;  // of a tuple or an interval; "{}" of a set; empty: none
};

class Comparison {
 public:
  explicit Comparison(const CompareRules& rules) : numbers_(rules, budget_) {}

  Verdict compare(Side a, Side b) {
    if (!budget_.take()) return Verdict::undecided;
    if (a.get().kind == Kind::relation || b.get().kind == Kind::relation) return compare_relations(a, b);
    if (const auto verdict = compare_wrapped(a, b)) return *verdict;
    if (a.get().kind == Kind::words || b.get().kind == Kind::words) return compare_words(a, b);
    if (a.get().kind == Kind::matrix || b.get().kind == Kind::matrix) return compare_matrices(a, b);
    if (a.get().kind == Kind::join || b.get().kind == Kind::join) return compare_joins(a, b);
    if (is_list(a) || is_list(b)) return compare_lists(elements(a), elements(b));
    return numbers_.compare(a, b);
  }

 private:
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
    return numbers_.compare(a, b);  // 50% is 50, and 0.5
  }
  Verdict compare_hundredths(Side percent, Side other) {
    Formula scaled = *percent.formula;
    scaled.nodes.push_back({Kind::percent, "", {percent.node}});
    return numbers_.compare({&scaled, static_cast<int32_t>(scaled.nodes.size()) - 1, percent.sign}, other);
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
    return equations ? numbers_.compare_equations(a, b) : Verdict::wrong;
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
    return numbers_.are_near(exact, last_child(relation)) ? compare(exact, other) : last;
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

  static Verdict compare_words(Side a, Side b) {
    const bool same = a.get().kind == b.get().kind && a.get().text == b.get().text;
    return same ? Verdict::right : Verdict::wrong;
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
    return numbers_.compare(value_of(a), value_of(b));
  }

  StepBudget budget_{kMaxSteps};
  NumberComparison numbers_;
};

// Without dollar signs, \left, \right, and spaces but for those between digits ("1 1/2" is not "11/2"); for texts that
// are equal as they stand.
std::string squeezed(std::string_view text) {
  std::string spaced(text);
  for (const char* gone : {"\\left", "\\right", "\\!", "$"}) replace_every(spaced, gone, "");
  for (const char* space : {"\\,", "\\;", "\\ ", "\n", "\t"}) replace_every(spaced, space, " ");
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string result;
  for (size_t i = 0; i < spaced.size(); ++i) {
    if (spaced[i] != ' ') {
      const bool apart = i > 0 && spaced[i - 1] == ' ' && !result.empty() && is_digit(result.back());
      if (apart && is_digit(spaced[i])) result += ' ';
      result += spaced[i];
    }
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
