// The grammar of formulas, by recursive descent:
//   list     = item { ("," | ";" | and | or) item }        item  = words | relation
//   relation = (side | words) { ("=" | "<" | ...) side }    side  = [money] join [money | unit]
//   join     = sum { (U | N | \) sum }
//   sum      = product { (+ | - | +-) product }             product = factor { [* | /] factor }
// formula_parser.cc holds these down to factor, formula_primary.cc what a factor is made of. A fault sets failed_ and
// moves behind the last lexeme, which ends every loop. For these two files; others call parse_formula (formula.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reward/formula.h"
#include "reward/formula_lexer.h"

namespace hone {

class FormulaParser {
 public:
  FormulaParser(std::vector<Lexeme> lexemes, Letters letters) : lexemes_(std::move(lexemes)), letters_(letters) {}

  std::optional<Formula> run() {
    if (lexemes_.empty()) return {};
    formula_.root = list();
    if (failed_ || at_ != lexemes_.size()) return {};
    return std::move(formula_);
  }

 private:
  using Kind = FormulaKind;
  using Children = std::vector<int32_t>;
  static constexpr int kMaxNesting = 50;

  int32_t add(Kind kind, Children children, std::string text = "") {
    formula_.nodes.push_back({kind, std::move(text), std::move(children)});
    return static_cast<int32_t>(formula_.nodes.size()) - 1;
  }
  FormulaNode& node(int32_t index) { return formula_.nodes[static_cast<size_t>(index)]; }
  int32_t fail() {
    failed_ = true;
    at_ = lexemes_.size();
    return add(Kind::number, {}, "0");
  }
  bool ended() const { return at_ >= lexemes_.size(); }
  const Lexeme& next() const {
    static const Lexeme kEnd{LexemeKind::sign, "end of text"};
    return ended() ? kEnd : lexemes_[at_];
  }
  bool next_is(std::string_view sign) const { return next().is(sign); }
  bool take(std::string_view sign) {
    if (!next_is(sign)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view sign) {
    if (!take(sign)) fail();
  }
  static bool is_conjunction(const Lexeme& lexeme) {
    return lexeme.kind == LexemeKind::word && (lexeme.text == "and" || lexeme.text == "or");
  }
  bool at_conjunction() const { return is_conjunction(next()); }

  // formula_parser.cc
  int32_t list();
  int32_t item();
  // "\$12", "12 cm", "12 (cm)"; "\$12 per hour" is 12 of dollar/hour.
  int32_t side();
  bool next_is_money() const { return is_money(at_); }
  bool is_money(size_t at) const;
  std::string money_ahead() const;
  std::string unit_behind();
  // "12 (cm)"
  bool at_bracketed_unit() const;
  // Of several words of a unit, a letter needs no space behind "/".
  bool at_unit_word(bool after_slash) const;
  // "5 m"
  bool at_unit_letter() const;
  int32_t words();
  // "square centimeters", "cm^2", "m/s" under one spelling.
  std::string unit();
  bool at_relation() const;
  int32_t relation(int32_t first);
  int32_t join();
  int32_t signed_product();
  int32_t sum();
  int32_t product_or_sign() { return next_is("-") ? signed_product() : product(); }
  bool begins_factor() const;
  int32_t product();
  int32_t signed_factor();
  bool is_whole(int32_t index) {
    const FormulaNode& n = node(index);
    return n.kind == Kind::number && !n.brackets && n.text.find_first_of(".e") == std::string::npos;
  }
  // What stands beside a value without a sign is a factor.
  int32_t beside(int32_t value);
  static bool is_whole_lexeme(const Lexeme& lexeme) {
    return lexeme.kind == LexemeKind::number && lexeme.text.find_first_of(".e") == std::string::npos;
  }
  // Whether a fraction of whole numbers follows: "\frac{1}{2}", "\frac12", "1/2".
  bool at_whole_fraction() const;
  // A mixed number is one number: signs behind it are of the whole, "16\frac{2}{3}\%".
  int32_t with_fraction(int32_t whole);
  int32_t factor();
  int32_t power(int32_t base);
  int32_t subscript(int32_t value);

  // formula_primary.cc
  // What a command or ^ applies to: a group in braces, or one thing; of a number its first digit, or the whole.
  int32_t argument(bool whole_number);
  int32_t primary();
  int32_t symbol(const std::string& name);
  int32_t command(const std::string& sign);
  int32_t bracketed(const std::string& open);
  // \{...\} is a set; {...} is a group, and a set where it holds several.
  int32_t braced(const std::string& close);
  int32_t absolute();
  int32_t root(bool whole);
  int32_t function(const std::string& name);
  int32_t function_bracket();
  // Up to the next sign, and to the next function: "sin 2x cos x".
  int32_t function_product();
  // 0.1\overline{6} is 0.1 + 6/90.
  int32_t repeating(const std::string& number);
  int32_t exact_decimal(std::string number, size_t decimals);
  int32_t overlined();
  int32_t matrix();

  std::vector<Lexeme> lexemes_;
  Letters letters_;
  Formula formula_;
  size_t at_ = 0;
  int depth_ = 0, bars_ = 0;
  bool failed_ = false;
};

}  // namespace hone
