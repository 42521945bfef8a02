#include "reward/formula_lexer.h"

#include <algorithm>
#include <cctype>

#include "io/utf8.h"
#include "reward/formula_names.h"
#include "reward/judgement.h"
#include "reward/unit_words.h"

namespace hone {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

template <class List>
bool holds(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

// Without characters of Unicode that have a plain spelling; nothing when there are others outside of texts.
std::string plain(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t size = io::decode_code_point(text, i).size;
    const std::string_view character = text.substr(i, size);
    const auto* known = size == 1 ? std::end(kUnicode)
                                  : std::find_if(std::begin(kUnicode), std::end(kUnicode),
                                                 [&](const FormulaName& n) { return n.name == character; });
    result += known == std::end(kUnicode) ? character : known->text;
    i += size;
  }
  return result;
}

class Lexer {
 public:
  Lexer(std::string text, Commas commas) : text_(std::move(text)), commas_(commas) {}

  bool run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '~' || c == '$') {
        if (c == '$' && is_money_at(at_)) add(LexemeKind::sign, "dollar");
        space_ = true;
        ++at_;
      } else if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
        read_number();
      } else if (is_letter(c)) {
        read_letters();
      } else if (c == '\\') {
        if (!read_command()) return false;
      } else if (!read_sign()) {
        return false;
      }
    }
    return true;
  }
  std::vector<Lexeme> lexemes;

 private:
  void add(LexemeKind kind, std::string text) {
    lexemes.push_back({kind, std::move(text), space_});
    space_ = false;
  }
  bool digits_at(size_t begin, size_t count) const {
    if (begin + count > text_.size()) return false;
    for (size_t i = begin; i < begin + count; ++i) {
      if (!is_digit(text_[i])) return false;
    }
    return true;
  }
  // "$5" without a second dollar sign is no mathematics between two.
  bool is_money_at(size_t at) const {
    return digits_at(at + 1, 1) && text_.find('$') == at && text_.find('$', at + 1) == std::string::npos;
  }
  // The separator of thousands at `at`: "," or "{,}" or "\," or ",\!" before three digits and no fourth; its size, or
  // 0.
  size_t thousands_at(size_t at) const {
    for (const std::string_view mark : {"{,}", ",\\!", "\\,", ","}) {
      if (text_.compare(at, mark.size(), mark) != 0) continue;
      if (mark == "," && commas_ == Commas::list) return 0;
      const size_t next = at + mark.size();
      const bool good = digits_at(next, 3) && !(next + 3 < text_.size() && is_digit(text_[next + 3]));
      return good ? mark.size() : 0;
    }
    return 0;
  }
  void read_number() {
    std::string number;
    while (at_ < text_.size() && is_digit(text_[at_])) number += text_[at_++];
    if (!number.empty() && number.size() <= 3 && number.front() != '0') {
      for (size_t mark = thousands_at(at_); mark > 0; mark = thousands_at(at_)) {
        number.append(text_, at_ + mark, 3);
        at_ += mark + 3;
      }
    }
    if (at_ < text_.size() && text_[at_] == '.') {
      size_t end = at_ + 1;
      while (end < text_.size() && is_digit(text_[end])) ++end;
      if (end > at_ + 1) {
        number.append(text_, at_, end - at_);
        at_ = end;
      } else if (at_ + 1 == text_.size()) {
        ++at_;  // "5." ends a sentence
      } else if (text_.compare(at_ + 1, 9, "\\overline") == 0 || text_.compare(at_ + 1, 4, "\\bar") == 0) {
        number += '.';
        ++at_;
      }
    }
    if (at_ + 1 < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {  // 1.2e-3
      const size_t sign = text_[at_ + 1] == '-' || text_[at_ + 1] == '+' ? 1 : 0;
      if (digits_at(at_ + 1 + sign, 1)) {
        number += 'e';
        for (at_ += 1; at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '-' || text_[at_] == '+'); ++at_) {
          if (!is_digit(text_[at_]) && number.back() != 'e') break;
          number += text_[at_];
        }
      }
    }
    add(LexemeKind::number, std::move(number));
  }
  void read_letters() {
    size_t end = at_;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    const std::string name = text_.substr(at_, end - at_);
    at_ = end;
    add_name(name);
  }
  // Letters without a backslash: a function, a number's name, a unit or another word, or symbols one after the other.
  void add_name(const std::string& name) {
    const std::string lower = lower_ascii(name);
    if (holds(kFunctions, lower)) {
      if (lower == "sqrt") return add(LexemeKind::sign, "surd");
      return add(LexemeKind::function, lower);
    }
    if (lower == "pi" || lower == "infinity") return add(LexemeKind::symbol, lower);
    if (lower == "inf" || name == "oo") return add(LexemeKind::symbol, "infinity");
    if (name == "U") return add(LexemeKind::sign, "U");
    if (name.size() > 1 && holds(kGreek, name)) return add(LexemeKind::symbol, name);
    if (name.size() > 3 || (name.size() > 1 && is_word(lower))) return add(LexemeKind::word, lower);
    for (const char letter : name) add(LexemeKind::symbol, std::string(1, letter));
  }
  // "{...}" after a command, or the single character that follows; its content.
  std::string read_group() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ >= text_.size()) return {};
    if (text_[at_] != '{') return std::string(1, text_[at_++]);
    size_t end = at_ + 1;
    for (int depth = 1; end < text_.size() && depth > 0; ++end)
      depth += text_[end] == '{' ? 1 : text_[end] == '}' ? -1 : 0;
    const size_t begin = at_ + 1;
    at_ = end;
    return text_.substr(begin, std::max(end, begin + 1) - begin - 1);
  }
  // A text in a formula: single letters and what holds none are formulas themselves, the rest are words.
  bool read_text() {
    const std::string content = read_group();
    const auto letters = std::count_if(content.begin(), content.end(), is_letter);
    const bool other = std::any_of(content.begin(), content.end(), [](unsigned char c) { return c >= 0x80; });
    const std::string_view inner = trimmed(content);
    if (letters == 0 && !other) return splice(content);
    if (letters == 1 && inner.find_first_not_of("()[]") != std::string_view::npos && inner.size() <= 3 &&
        !is_word(lower_ascii(inner))) {
      return splice(content);
    }
    space_ = true;
    std::string word;
    for (const char c : content + " ") {
      if (std::isspace(static_cast<unsigned char>(c)) == 0 && c != ',' && c != ';') {
        word += c;
        continue;
      }
      if (!word.empty() && is_digit(word.front())) {
        if (!splice(word)) return false;
      } else {
        add_text_word(lower_ascii(without_brackets(word)));
      }
      word.clear();
      if (c == ',' || c == ';') add(LexemeKind::sign, ",");
    }
    return true;
  }
  // A name as it would be without the command: a function where it is one.
  void read_operator() {
    if (at_ < text_.size() && text_[at_] == '*') ++at_;
    const std::string group = read_group();
    const std::string_view name = trimmed(group);
    if (!name.empty() && std::all_of(name.begin(), name.end(), is_letter)) add_name(std::string(name));
  }
  void add_text_word(const std::string& word) {
    if (word.empty()) return;
    const size_t slash = is_quotient_of_units(word) ? word.find('/') : std::string::npos;
    add(LexemeKind::word, word.substr(0, slash));
    if (slash == std::string::npos) return;
    add(LexemeKind::sign, "/");
    add(LexemeKind::word, word.substr(slash + 1));
  }
  // "\\text{12 (cm)}"
  static std::string_view without_brackets(std::string_view word) {
    if (word.starts_with('(')) word.remove_prefix(1);
    if (word.ends_with(')')) word.remove_suffix(1);
    return word;
  }
  bool splice(const std::string& content) {
    if (++splices_ > 200) return false;
    Lexer inner(content, commas_);
    inner.splices_ = splices_;
    if (!inner.run()) return false;
    for (Lexeme& lexeme : inner.lexemes) lexemes.push_back(std::move(lexeme));
    return true;
  }
  bool read_command() {
    if (at_ + 1 >= text_.size()) return false;
    const char next = text_[at_ + 1];
    if (!is_letter(next)) {
      at_ += 2;
      if (next == '{' || next == '}') {
        add(LexemeKind::sign, std::string("\\") + next);
      } else if (next == '\\') {
        add(LexemeKind::sign, "\\\\");
      } else if (next == '%') {
        add(LexemeKind::sign, "%");
      } else if (next == '$') {
        add(LexemeKind::sign, "dollar");
      } else if (next == '|') {
        add(LexemeKind::sign, "|");
      } else if (std::string_view(",;:! ()[]\n").find(next) != std::string_view::npos) {
        space_ = space_ || next != '!';  // \( and \[ open a formula
      } else {
        return false;
      }
      return true;
    }
    size_t end = at_ + 1;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    const std::string name = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end;
    return add_command(name);
  }
  bool add_command(const std::string& name) {
    if (holds(kIgnored, name)) {
      if ((name == "left" || name == "right") && at_ < text_.size() && text_[at_] == '.') ++at_;
      return true;
    }
    const auto* sign =
        std::find_if(std::begin(kSigns), std::end(kSigns), [&](const FormulaName& n) { return n.name == name; });
    if (sign != std::end(kSigns)) {
      add(LexemeKind::sign, std::string(sign->text));
      if (name == "begin" || name == "end") {
        add(LexemeKind::word, read_group());
        if (name == "begin" && lexemes.back().text == "array") read_group();  // columns
      }
      return true;
    }
    if (holds(kTexts, name)) return read_text();
    if (name == "operatorname") return read_operator(), true;
    if (name == "bar") return add(LexemeKind::sign, "overline"), true;
    if (name == "circ" || name == "degree") return add(LexemeKind::sign, "circ"), true;
    if (name == "infty") return add(LexemeKind::symbol, "infinity"), true;
    if (name == "emptyset" || name == "varnothing") return add(LexemeKind::symbol, "emptyset"), true;
    if (name == "mathbb") return add(LexemeKind::symbol, "set " + read_group()), true;
    if (name == "pi" || holds(kGreek, name)) return add(LexemeKind::symbol, name), true;
    if (holds(kFunctions, name)) return add(LexemeKind::function, name), true;
    return false;
  }
  bool read_sign() {
    for (const std::string_view two : {"<=", ">=", "!=", "**"}) {
      if (text_.compare(at_, 2, two) != 0 || (two == "!=" && lexemes.empty())) continue;
      at_ += 2;
      return add(LexemeKind::sign, two == "**" ? "^" : std::string(two)), true;
    }
    const char c = text_[at_];
    if (std::string_view("()[]{},;+-*/^_=<>|!%&").find(c) == std::string_view::npos) {
      const bool ends = c == '.' && text_.find_first_not_of(" .$", at_) == std::string::npos;
      if (!ends && c != '"' && c != '\'') return false;
      // "f'" is another function than "f"; quotation marks around an answer say nothing.
      const bool is_prime =
          !ends && text_.front() != c && !lexemes.empty() && !space_ && lexemes.back().kind == LexemeKind::symbol;
      if (is_prime) lexemes.back().text += c;
      ++at_;
      return true;
    }
    ++at_;
    return add(LexemeKind::sign, std::string(1, c)), true;
  }

  std::string text_;
  Commas commas_;
  size_t at_ = 0;
  bool space_ = false;
  int splices_ = 0;
};

}  // namespace

std::optional<std::vector<Lexeme>> lex_formula(std::string_view text, Commas commas) {
  Lexer lexer(plain(text), commas);
  if (!lexer.run()) return {};
  return std::move(lexer.lexemes);
}

}  // namespace hone
