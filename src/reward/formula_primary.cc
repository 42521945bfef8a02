// Numbers, symbols, brackets, functions, roots, matrices: what a factor is made of.
#include <string>
#include <utility>

#include "reward/formula_parser.h"
#include "reward/unit_words.h"

namespace hone {

int32_t FormulaParser::argument(bool whole_number) {
  if (++depth_ > kMaxNesting) return fail();
  int32_t value = 0;
  if (take("-")) {
    value = add(Kind::negate, {argument(whole_number)});
  } else if (take("{")) {
    value = sum();
    expect("}");
  } else if (next().kind == LexemeKind::number && !whole_number && next().text.size() > 1) {
    value = add(Kind::number, {}, next().text.substr(0, 1));
    lexemes_[at_].text.erase(0, 1);
  } else {
    value = primary();
  }
  --depth_;
  return value;
}

int32_t FormulaParser::primary() {
  if (next_is_money()) ++at_;  // side() has seen it
  if (ended() || ++depth_ > kMaxNesting) return fail();
  const Lexeme lexeme = lexemes_[at_++];
  int32_t value = 0;
  switch (lexeme.kind) {
    case LexemeKind::number:
      value = next_is("overline") ? repeating(lexeme.text) : add(Kind::number, {}, lexeme.text);
      break;
    case LexemeKind::symbol:
      value = symbol(lexeme.text);
      break;
    case LexemeKind::function:
      value = function(lexeme.text);
      break;
    case LexemeKind::word:
      value = quantity(lexeme.text).empty() ? fail() : add(Kind::number, {}, std::string(quantity(lexeme.text)));
      break;
    case LexemeKind::sign:
      value = command(lexeme.text);
      break;
  }
  --depth_;
  return value;
}

int32_t FormulaParser::symbol(const std::string& name) {
  if (name == "pi") return add(Kind::pi, {});
  if (name == "e") return add(Kind::euler, {});
  if (name == "i") return add(Kind::imaginary, {});
  return add(Kind::symbol, {}, name);
}

int32_t FormulaParser::command(const std::string& sign) {
  if (sign == "(" || sign == "[") return bracketed(sign);
  if (sign == "\\{") return braced("\\}");
  if (sign == "{") return braced("}");
  if (sign == "|") return absolute();
  if (sign == "floor(" || sign == "ceil(") {
    const std::string name = sign.substr(0, sign.size() - 1);
    const int32_t inside = sum();
    expect(")" + name);
    return add(Kind::function, {inside}, name);
  }
  if (sign == "frac" || sign == "binom") {
    const int32_t above = argument(false);
    const int32_t below = argument(false);
    return add(sign == "frac" ? Kind::divide : Kind::binomial, {above, below});
  }
  if (sign == "sqrt" || sign == "surd") return root(sign == "surd");
  if (sign == "begin") return matrix();
  if (sign == "overline") return overlined();
  return fail();
}

int32_t FormulaParser::bracketed(const std::string& open) {
  const int outer_bars = std::exchange(bars_, 0);
  const int32_t inside = list();
  bars_ = outer_bars;
  const std::string close = next().text;
  if (!take(")") && !take("]")) return fail();
  const bool is_list = node(inside).kind == Kind::list && !node(inside).brackets;
  if (is_list) {
    node(inside).kind = Kind::bracketed;
    node(inside).text = open + close;
    return inside;
  }
  if (open == "(" && close == ")") {
    node(inside).brackets = true;
    return inside;
  }
  return add(Kind::bracketed, {inside}, open + close);
}

int32_t FormulaParser::braced(const std::string& close) {
  const int outer_bars = std::exchange(bars_, 0);
  if (close == "\\}" && take(close)) {
    bars_ = outer_bars;
    return add(Kind::symbol, {}, "emptyset");
  }
  const int32_t inside = list();
  bars_ = outer_bars;
  expect(close);
  if (failed_) return inside;
  if (node(inside).kind == Kind::list) {
    node(inside).kind = Kind::set;
    return inside;
  }
  return close == "}" ? inside : add(Kind::set, {inside});
}

int32_t FormulaParser::absolute() {
  ++bars_;
  const int32_t inside = sum();
  expect("|");
  --bars_;
  return add(Kind::function, {inside}, "abs");
}

int32_t FormulaParser::root(bool whole) {
  int32_t degree = 0;
  if (take("[")) {
    degree = sum();
    expect("]");
  } else {
    degree = add(Kind::number, {}, "2");
  }
  const int32_t radicand = argument(whole);
  return add(Kind::root, {radicand, degree});
}

int32_t FormulaParser::function(const std::string& name) {
  int32_t power = -1, base = -1;
  for (bool more = true; more;) {
    more = false;
    if (power < 0 && take("^")) power = argument(true), more = true;
    if (base < 0 && name == "log" && take("_")) base = argument(false), more = true;
  }
  const int32_t inside = next_is("(") || next_is("{") ? function_bracket() : function_product();
  int32_t value = 0;
  if (name == "exp") {
    const int32_t euler = add(Kind::euler, {});
    value = add(Kind::power, {euler, inside});
  } else if (base >= 0) {
    value = add(Kind::logarithm, {inside, base});
  } else {
    value = add(Kind::function, {inside}, name);
  }
  return power >= 0 ? add(Kind::power, {value, power}) : value;
}

int32_t FormulaParser::function_bracket() {
  const int32_t inside = primary();
  const Kind kind = node(inside).kind;
  return kind == Kind::bracketed || kind == Kind::set ? fail() : inside;
}

int32_t FormulaParser::function_product() {
  int32_t value = factor();
  while (begins_factor() && next().kind != LexemeKind::function && !next_is("(")) value = beside(value);
  return value;
}

int32_t FormulaParser::repeating(const std::string& number) {
  ++at_;
  expect("{");
  const std::string period = next().text;
  const bool good = next().kind == LexemeKind::number && number.find('.') != std::string::npos && period.size() < 10 &&
                    period.find_first_not_of("0123456789") == std::string::npos;
  if (!good) return fail();
  ++at_;
  expect("}");
  const size_t decimals = number.size() - number.find('.') - 1;
  const std::string below = std::string(period.size(), '9') + std::string(decimals, '0');
  const int32_t whole = exact_decimal(number, decimals);
  const int32_t above = add(Kind::number, {}, period), under = add(Kind::number, {}, below);
  return add(Kind::add, {whole, add(Kind::divide, {above, under})});
}

int32_t FormulaParser::exact_decimal(std::string number, size_t decimals) {
  number.erase(number.find('.'), 1);
  const int32_t above = add(Kind::number, {}, number.empty() ? "0" : number);
  const int32_t below = add(Kind::number, {}, "1" + std::string(decimals, '0'));
  return add(Kind::divide, {above, below});
}

int32_t FormulaParser::overlined() {
  std::string name = "overline ";
  if (!take("{")) return fail();
  while (!ended() && !next_is("}")) name += lexemes_[at_++].text;
  expect("}");
  return add(Kind::symbol, {}, name);
}

int32_t FormulaParser::matrix() {
  if (next().kind != LexemeKind::word) return fail();
  const std::string name = lexemes_[at_++].text;
  if (!name.ends_with("matrix") && name != "array") return fail();
  Children rows;
  while (!ended() && !next_is("end")) {
    Children cells{sum()};
    while (take("&")) cells.push_back(sum());
    rows.push_back(add(Kind::list, std::move(cells)));
    if (!take("\\\\")) break;
  }
  expect("end");
  if (failed_ || rows.empty() || next().text != name) return fail();
  ++at_;
  return add(Kind::matrix, std::move(rows));
}

}  // namespace hone
