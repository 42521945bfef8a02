#include "reward/formula_parser.h"

#include <algorithm>

#include "reward/judgement.h"
#include "reward/unit_words.h"

namespace hone {

namespace {

constexpr std::string_view kMoney[] = {"dollar", "euro", "pound", "yen"};
constexpr std::string_view kRelations[] = {"=", "~", "<", "<=", ">", ">=", "!=", "in"};

}  // namespace

int32_t FormulaParser::list() {
  if (++depth_ > kMaxNesting) return fail();
  Children items{item()};
  std::string order;
  while (next_is(",") || next_is(";") || at_conjunction()) {
    if (at_conjunction()) order = "or";
    ++at_;
    if (at_conjunction()) ++at_, order = "or";  // ", and"
    items.push_back(item());
  }
  --depth_;
  return items.size() == 1 ? items.front() : add(Kind::list, std::move(items), order);
}

int32_t FormulaParser::item() {
  if (next().kind == LexemeKind::word && quantity(next().text).empty() && !at_conjunction()) {
    const int32_t name = words();
    return at_relation() ? relation(name) : name;  // "Area = 12"
  }
  if (!take("=")) take("~");  // "= 5"
  return relation(side());
}

int32_t FormulaParser::side() {
  std::string name = money_ahead();
  const size_t first = formula_.nodes.size();
  const int32_t value = join();
  // "3 n + 2 m": no unit, where symbols stand before it.
  const auto is_symbol = [](const FormulaNode& node) { return node.kind == Kind::symbol; };
  if (at_unit_letter() && std::any_of(formula_.nodes.begin() + first, formula_.nodes.end(), is_symbol)) return fail();
  if (next_is_money()) name = lexemes_[at_++].text;
  const std::string more = unit_behind();
  if (name.empty()) {
    name = more;
  } else if (more.starts_with('/')) {
    name += more;
  }
  return name.empty() ? value : add(Kind::with_unit, {value}, name);
}

bool FormulaParser::is_money(size_t at) const {
  return at < lexemes_.size() && lexemes_[at].kind == LexemeKind::sign &&
         std::find(std::begin(kMoney), std::end(kMoney), lexemes_[at].text) != std::end(kMoney);
}

std::string FormulaParser::money_ahead() const {
  const size_t at = at_ + (next_is("-") ? 1 : 0);
  return is_money(at) ? lexemes_[at].text : "";
}

std::string FormulaParser::unit_behind() {
  if (at_bracketed_unit()) {
    ++at_;
    const std::string name = unit();
    expect(")");
    return name;
  }
  return at_unit_word(false) ? unit() : "";
}

bool FormulaParser::at_bracketed_unit() const {
  if (!next_is("(") || at_ + 1 >= lexemes_.size()) return false;
  const Lexeme& first = lexemes_[at_ + 1];
  return first.kind == LexemeKind::word && !is_conjunction(first) && quantity(first.text).empty();
}

bool FormulaParser::at_unit_word(bool after_slash) const {
  if (next().kind == LexemeKind::word) return !at_conjunction();
  return after_slash ? next().kind == LexemeKind::symbol && is_unit_letter(next().text) : at_unit_letter();
}

bool FormulaParser::at_unit_letter() const {
  if (letters_ != Letters::units || next().kind != LexemeKind::symbol || at_ == 0) return false;
  const Lexeme& before = lexemes_[at_ - 1];
  const bool after_value = before.kind == LexemeKind::number || before.is("}") || before.is(")");
  return after_value && next().after_space && is_unit_letter(next().text);
}

int32_t FormulaParser::words() {
  std::string text;
  while (next().kind == LexemeKind::word && !at_conjunction()) {
    text += (text.empty() ? "" : " ") + lexemes_[at_++].text;
  }
  return add(Kind::words, {}, text);
}

std::string FormulaParser::unit() {
  std::string name, power;
  while (at_unit_word(name.ends_with('/'))) {
    const std::string word = unit_name(lower_ascii(lexemes_[at_++].text));
    if (word == "square" || word == "cubic") {
      power = word == "square" ? "^2" : "^3";
      continue;
    }
    name += (name.empty() || word == "/" || name.ends_with("/") ? "" : " ") + word + std::exchange(power, "");
    if (take("^")) name += "^" + formula_.at(argument(true)).text;
    if (take("/")) name += "/";
  }
  return name;
}

bool FormulaParser::at_relation() const {
  return next().kind == LexemeKind::sign &&
         std::find(std::begin(kRelations), std::end(kRelations), next().text) != std::end(kRelations);
}

int32_t FormulaParser::relation(int32_t first) {
  Children sides{first};
  std::string signs;
  while (at_relation()) {
    signs += (signs.empty() ? "" : " ") + lexemes_[at_++].text;
    sides.push_back(side());
  }
  return sides.size() == 1 ? sides.front() : add(Kind::relation, std::move(sides), signs);
}

int32_t FormulaParser::join() {
  Children parts{sum()};
  std::string sign;
  while (next_is("U") || next_is("N") || next_is("\\")) {
    if (!sign.empty() && !next_is(sign)) return fail();
    sign = lexemes_[at_++].text;
    parts.push_back(sum());
  }
  return parts.size() == 1 ? parts.front() : add(Kind::join, std::move(parts), sign);
}

int32_t FormulaParser::signed_product() {
  if (++depth_ > kMaxNesting) return fail();
  int32_t value = 0;
  if (take("-")) {
    value = add(Kind::negate, {signed_product()});
  } else if (take("+")) {
    value = signed_product();
  } else if (take("+-") || take("-+")) {
    value = add(Kind::plus_minus, {signed_product()});
  } else {
    value = product();
  }
  --depth_;
  return value;
}

int32_t FormulaParser::sum() {
  Children terms{signed_product()};
  while (next_is("+") || next_is("-") || next_is("+-") || next_is("-+")) {
    if (take("+")) {
      terms.push_back(product_or_sign());
    } else {
      terms.push_back(signed_product());
    }
  }
  return terms.size() == 1 ? terms.front() : add(Kind::add, std::move(terms));
}

bool FormulaParser::begins_factor() const {
  if (ended() || at_bracketed_unit() || at_unit_letter()) return false;
  const Lexeme& lexeme = next();
  if (lexeme.kind == LexemeKind::word) return !quantity(lexeme.text).empty();
  if (lexeme.kind != LexemeKind::sign) return true;
  if (lexeme.is("|")) return bars_ == 0;
  for (const char* sign :
       {"(", "[", "{", "\\{", "frac", "sqrt", "surd", "binom", "floor(", "ceil(", "overline", "begin"}) {
    if (lexeme.is(sign)) return true;
  }
  return false;
}

int32_t FormulaParser::product() {
  int32_t value = factor();
  while (!ended()) {
    if (take("*")) {
      value = add(Kind::multiply, {value, signed_factor()});
    } else if (take("/")) {
      value = add(Kind::divide, {value, signed_factor()});
    } else if (begins_factor()) {
      value = beside(value);
    } else {
      break;
    }
  }
  return value;
}

int32_t FormulaParser::signed_factor() {
  if (take("-")) return add(Kind::negate, {signed_factor()});
  return factor();
}

int32_t FormulaParser::beside(int32_t value) {
  if (next().kind == LexemeKind::number && node(value).kind == Kind::number) return fail();  // "3 4"
  return add(Kind::multiply, {value, factor()});
}

bool FormulaParser::at_whole_fraction() const {
  const auto is_whole_at = [&](size_t at) { return at < lexemes_.size() && is_whole_lexeme(lexemes_[at]); };
  const auto is_at = [&](size_t at, const char* sign) { return at < lexemes_.size() && lexemes_[at].is(sign); };
  if (is_whole_at(at_)) return is_at(at_ + 1, "/") && is_whole_at(at_ + 2);
  if (!next_is("frac")) return false;
  size_t at = at_ + 1, digit = 0;
  for (int argument = 0; argument < 2; ++argument) {
    if (is_at(at, "{")) {
      if (!is_whole_at(at + 1) || !is_at(at + 2, "}")) return false;
      at += 3;
    } else {
      if (!is_whole_at(at)) return false;
      if (++digit == lexemes_[at].text.size()) ++at, digit = 0;
    }
  }
  return true;
}

int32_t FormulaParser::with_fraction(int32_t whole) {
  if (next_is("frac")) return add(Kind::add, {whole, primary()});
  const int32_t above = primary();
  expect("/");
  return add(Kind::add, {whole, add(Kind::divide, {above, primary()})});
}

int32_t FormulaParser::factor() {
  int32_t value = primary();
  if (is_whole(value) && at_whole_fraction()) value = with_fraction(value);
  while (!ended()) {
    if (take("!")) {
      value = add(Kind::factorial, {value});
    } else if (take("%")) {
      value = add(Kind::percent, {value});
    } else if (take("circ")) {
      value = add(Kind::with_unit, {value}, "degree");
    } else if (take("^")) {
      value = power(value);
    } else if (take("_")) {
      value = subscript(value);
    } else {
      break;
    }
  }
  return value;
}

int32_t FormulaParser::power(int32_t base) {
  if (take("circ")) return add(Kind::with_unit, {base}, "degree");
  if (next_is("{") && at_ + 2 < lexemes_.size() && lexemes_[at_ + 1].is("circ") && lexemes_[at_ + 2].is("}")) {
    at_ += 3;
    return add(Kind::with_unit, {base}, "degree");
  }
  int32_t exponent = argument(true);
  if (take("^")) {
    if (++depth_ > kMaxNesting) return fail();
    exponent = power(exponent);
    --depth_;
  }
  return add(Kind::power, {base, exponent});
}

int32_t FormulaParser::subscript(int32_t value) {
  const size_t begin = at_;
  argument(true);
  std::string name;
  for (size_t i = begin; i < at_; ++i) {
    if (!lexemes_[i].is("{") && !lexemes_[i].is("}")) name += lexemes_[i].text;
  }
  if (node(value).kind == Kind::symbol) {
    node(value).text += "_" + name;
    return value;
  }
  return add(Kind::with_unit, {value}, "base " + name);
}

std::optional<Formula> parse_formula(std::string_view text, Commas commas, Letters letters) {
  auto lexemes = lex_formula(text, commas);
  if (!lexemes) return {};
  return FormulaParser(*std::move(lexemes), letters).run();
}

}  // namespace hone
