// The words of a formula: LaTeX, plain text and Unicode signs become one small alphabet.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reward/formula.h"

namespace hone {

enum class LexemeKind {
  number,    // digits, perhaps with a point, an exponent written as e
  symbol,    // a letter, or a name such as "alpha"
  function,  // "sin"
  word,      // of a text: a unit, "and", or any other
  sign,      // an operator, bracket or command: see lex_formula
};

struct Lexeme {
  LexemeKind kind = LexemeKind::sign;
  std::string text;
  bool after_space = false;
  bool is(std::string_view sign) const { return kind == LexemeKind::sign && text == sign; }
};

// Signs are ( ) [ ] { } \{ \} , ; + - * / ^ _ = ~ < > <= >= != | ! % & \\ in +- -+ U N \ circ and the commands frac,
// dollar, euro, pound, yen, sqrt, surd (a root of a whole number or bracket), binom, overline, floor( )floor, ceil(
// )ceil, begin and end (with the environment's name in the next lexeme, a word). Nothing when there is a command or a
// character that is no part of a formula.
std::optional<std::vector<Lexeme>> lex_formula(std::string_view text, Commas commas);

}  // namespace hone
