// The grammar of formulas, by recursive descent:
//   list     = item { ("," | ";" | and | or) item }        item  = words | relation
//   relation = (side | words) { ("=" | "<" | ...) side }    side  = [money] join [money | unit]
//   join     = sum { (U | N | \) sum }
//   sum      = product { (+ | - | +-) product }             product = factor { [* | /] factor }
// A fault sets failed_ and moves behind the last lexeme, which ends every loop.
#include <algorithm>
#include <utility>

#include "reward/formula.h"
#include "reward/formula_lexer.h"
#include "reward/judgement.h"
#include "reward/unit_words.h"

namespace hone {

namespace {

constexpr int kMaxNesting = 50;
constexpr std::string_view kMoney[] = {"dollar", "euro", "pound", "yen"};
constexpr std::string_view kRelations[] = {"=", "~", "<", "<=", ">", ">=", "!=", "in"};

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

  int32_t list() {
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

  int32_t item() {
    if (next().kind == LexemeKind::word && quantity(next().text).empty() && !at_conjunction()) {
      const int32_t name = words();
      return at_relation() ? relation(name) : name;  // "Area = 12"
    }
    if (!take("=")) take("~");  // "= 5"
    return relation(side());
  }

  // "\$12", "12 cm", "12 (cm)"; "\$12 per hour" is 12 of dollar/hour.
  int32_t side() {
    std::string name = money_ahead();
    const int32_t value = join();
    if (next_is_money()) name = lexemes_[at_++].text;
    const std::string more = unit_behind();
    if (name.empty()) {
      name = more;
    } else if (more.starts_with('/')) {
      name += more;
    }
    return name.empty() ? value : add(Kind::with_unit, {value}, name);
  }
  bool next_is_money() const { return is_money(at_); }
  bool is_money(size_t at) const {
    return at < lexemes_.size() && lexemes_[at].kind == LexemeKind::sign &&
           std::find(std::begin(kMoney), std::end(kMoney), lexemes_[at].text) != std::end(kMoney);
  }
  std::string money_ahead() const {
    const size_t at = at_ + (next_is("-") ? 1 : 0);
    return is_money(at) ? lexemes_[at].text : "";
  }
  std::string unit_behind() {
    if (at_bracketed_unit()) {
      ++at_;
      const std::string name = unit();
      expect(")");
      return name;
    }
    return at_unit_word(false) ? unit() : "";
  }
  // "12 (cm)"
  bool at_bracketed_unit() const {
    if (!next_is("(") || at_ + 1 >= lexemes_.size()) return false;
    const Lexeme& first = lexemes_[at_ + 1];
    return first.kind == LexemeKind::word && !is_conjunction(first) && quantity(first.text).empty();
  }

  // Of several words of a unit, a letter needs no space behind "/".
  bool at_unit_word(bool after_slash) const {
    if (next().kind == LexemeKind::word) return !at_conjunction();
    return after_slash ? next().kind == LexemeKind::symbol && is_unit_letter(next().text) : at_unit_letter();
  }
  // "5 m"
  bool at_unit_letter() const {
    if (letters_ != Letters::units || next().kind != LexemeKind::symbol || at_ == 0) return false;
    const Lexeme& before = lexemes_[at_ - 1];
    const bool after_value = before.kind == LexemeKind::number || before.is("}") || before.is(")");
    return after_value && next().after_space && is_unit_letter(next().text);
  }

  int32_t words() {
    std::string text;
    while (next().kind == LexemeKind::word && !at_conjunction()) {
      text += (text.empty() ? "" : " ") + lexemes_[at_++].text;
    }
    return add(Kind::words, {}, text);
  }

  // "square centimeters", "cm^2", "m/s" under one spelling.
  std::string unit() {
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

  bool at_relation() const {
    return next().kind == LexemeKind::sign &&
           std::find(std::begin(kRelations), std::end(kRelations), next().text) != std::end(kRelations);
  }
  int32_t relation(int32_t first) {
    Children sides{first};
    std::string signs;
    while (at_relation()) {
      signs += (signs.empty() ? "" : " ") + lexemes_[at_++].text;
      sides.push_back(side());
    }
    return sides.size() == 1 ? sides.front() : add(Kind::relation, std::move(sides), signs);
  }

  int32_t join() {
    Children parts{sum()};
    std::string sign;
    while (next_is("U") || next_is("N") || next_is("\\")) {
      if (!sign.empty() && !next_is(sign)) return fail();
      sign = lexemes_[at_++].text;
      parts.push_back(sum());
    }
    return parts.size() == 1 ? parts.front() : add(Kind::join, std::move(parts), sign);
  }

  int32_t signed_product() {
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

  int32_t sum() {
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
  int32_t product_or_sign() { return next_is("-") ? signed_product() : product(); }

  bool begins_factor() const {
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

  int32_t product() {
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
  int32_t signed_factor() {
    if (take("-")) return add(Kind::negate, {signed_factor()});
    return factor();
  }

  bool is_whole(int32_t index) {
    const FormulaNode& n = node(index);
    return n.kind == Kind::number && !n.brackets && n.text.find_first_of(".e") == std::string::npos;
  }
  // What stands beside a value without a sign is a factor.
  int32_t beside(int32_t value) {
    if (next().kind == LexemeKind::number && node(value).kind == Kind::number) return fail();  // "3 4"
    return add(Kind::multiply, {value, factor()});
  }

  static bool is_whole_lexeme(const Lexeme& lexeme) {
    return lexeme.kind == LexemeKind::number && lexeme.text.find_first_of(".e") == std::string::npos;
  }
  // Whether a fraction of whole numbers follows: "\frac{1}{2}", "\frac12", "1/2".
  bool at_whole_fraction() const {
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
  // A mixed number is one number: signs behind it are of the whole, "16\frac{2}{3}\%".
  int32_t with_fraction(int32_t whole) {
    if (next_is("frac")) return add(Kind::add, {whole, primary()});
    const int32_t above = primary();
    expect("/");
    return add(Kind::add, {whole, add(Kind::divide, {above, primary()})});
  }

  int32_t factor() {
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

  int32_t power(int32_t base) {
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

  int32_t subscript(int32_t value) {
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

  // What a command or ^ applies to: a group in braces, or one thing; of a number its first digit, or the whole.
  int32_t argument(bool whole_number) {
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

  int32_t primary() {
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

  int32_t symbol(const std::string& name) {
    if (name == "pi") return add(Kind::pi, {});
    if (name == "e") return add(Kind::euler, {});
    if (name == "i") return add(Kind::imaginary, {});
    return add(Kind::symbol, {}, name);
  }

  int32_t command(const std::string& sign) {
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

  int32_t bracketed(const std::string& open) {
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

  // \{...\} is a set; {...} is a group, and a set where it holds several.
  int32_t braced(const std::string& close) {
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

  int32_t absolute() {
    ++bars_;
    const int32_t inside = sum();
    expect("|");
    --bars_;
    return add(Kind::function, {inside}, "abs");
  }

  int32_t root(bool whole) {
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

  int32_t function(const std::string& name) {
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
  int32_t function_bracket() {
    const int32_t inside = primary();
    const Kind kind = node(inside).kind;
    return kind == Kind::bracketed || kind == Kind::set ? fail() : inside;
  }
  // Up to the next sign, and to the next function: "sin 2x cos x".
  int32_t function_product() {
    int32_t value = factor();
    while (begins_factor() && next().kind != LexemeKind::function && !next_is("(")) value = beside(value);
    return value;
  }

  // 0.1\overline{6} is 0.1 + 6/90.
  int32_t repeating(const std::string& number) {
    ++at_;
    expect("{");
    const std::string period = next().text;
    const bool good = next().kind == LexemeKind::number && number.find('.') != std::string::npos &&
                      period.size() < 10 && period.find_first_not_of("0123456789") == std::string::npos;
    if (!good) return fail();
    ++at_;
    expect("}");
    const size_t decimals = number.size() - number.find('.') - 1;
    const std::string below = std::string(period.size(), '9') + std::string(decimals, '0');
    const int32_t whole = exact_decimal(number, decimals);
    const int32_t above = add(Kind::number, {}, period), under = add(Kind::number, {}, below);
    return add(Kind::add, {whole, add(Kind::divide, {above, under})});
  }
  int32_t exact_decimal(std::string number, size_t decimals) {
    number.erase(number.find('.'), 1);
    const int32_t above = add(Kind::number, {}, number.empty() ? "0" : number);
    const int32_t below = add(Kind::number, {}, "1" + std::string(decimals, '0'));
    return add(Kind::divide, {above, below});
  }

  int32_t overlined() {
    std::string name = "overline ";
    if (!take("{")) return fail();
    while (!ended() && !next_is("}")) name += lexemes_[at_++].text;
    expect("}");
    return add(Kind::symbol, {}, name);
  }

  int32_t matrix() {
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

  std::vector<Lexeme> lexemes_;
  Letters letters_;
  Formula formula_;
  size_t at_ = 0;
  int depth_ = 0, bars_ = 0;
  bool failed_ = false;
};

}  // namespace

std::optional<Formula> parse_formula(std::string_view text, Commas commas, Letters letters) {
  auto lexemes = lex_formula(text, commas);
  if (!lexemes) return {};
  return FormulaParser(*std::move(lexemes), letters).run();
}

}  // namespace hone
