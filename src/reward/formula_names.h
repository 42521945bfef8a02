// The names that formulas are written with: functions, letters, commands of LaTeX, characters of Unicode.
#pragma once

#include <string_view>

namespace hone {

inline constexpr std::string_view kFunctions[] = {"sin",    "cos",    "tan",  "cot",  "sec",  "csc",  "arcsin",
                                                  "arccos", "arctan", "sinh", "cosh", "tanh", "ln",   "log",
                                                  "lg",     "exp",    "asin", "acos", "atan", "sqrt", "abs"};
inline constexpr std::string_view kGreek[] = {
    "alpha",  "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta",  "iota", "kappa",
    "lambda", "mu",   "nu",    "xi",    "rho",     "sigma",      "tau",  "phi", "varphi", "chi",  "psi",
    "omega",  "ell",  "Gamma", "Delta", "Theta",   "Lambda",     "Phi",  "Psi", "Omega",  "Sigma"};

struct FormulaName {
  std::string_view name, text;
};
// Commands that are signs.
inline constexpr FormulaName kSigns[] = {
    {"frac", "frac"},
    {"dfrac", "frac"},
    {"tfrac", "frac"},
    {"cfrac", "frac"},
    {"sqrt", "sqrt"},
    {"surd", "surd"},
    {"binom", "binom"},
    {"dbinom", "binom"},
    {"tbinom", "binom"},
    {"times", "*"},
    {"cdot", "*"},
    {"ast", "*"},
    {"div", "/"},
    {"pm", "+-"},
    {"mp", "-+"},
    {"le", "<="},
    {"leq", "<="},
    {"leqslant", "<="},
    {"ge", ">="},
    {"geq", ">="},
    {"geqslant", ">="},
    {"lt", "<"},
    {"gt", ">"},
    {"ne", "!="},
    {"neq", "!="},
    {"approx", "~"},
    {"in", "in"},
    {"cup", "U"},
    {"cap", "N"},
    {"setminus", "\\"},
    {"smallsetminus", "\\"},
    {"backslash", "\\"},
    {"lvert", "|"},
    {"rvert", "|"},
    {"vert", "|"},
    {"mid", "|"},
    {"lfloor", "floor("},
    {"rfloor", ")floor"},
    {"lceil", "ceil("},
    {"rceil", ")ceil"},
    {"lbrace", "\\{"},
    {"rbrace", "\\}"},
    {"overline", "overline"},
    {"lbrack", "["},
    {"rbrack", "]"},
    {"begin", "begin"},
    {"end", "end"},
    {"langle", "("},
    {"euro", "euro"},
    {"pounds", "pound"},
    {"yen", "yen"},
    {"rangle", ")"},
};
// Commands without a meaning here.
inline constexpr std::string_view kIgnored[] = {"left", "right", "displaystyle", "limits", "quad", "qquad", "big",
                                                "Big",  "bigl",  "bigr",         "Bigl",   "Bigr", "bigg",  "Bigg"};
// Commands whose argument is a text, or a letter in another type.
inline constexpr std::string_view kTexts[] = {"text",   "mathrm", "textbf", "mathbf", "mbox",    "textit",     "mathit",
                                              "textrm", "rm",     "bf",     "mathsf", "mathcal", "boldsymbol", "bm"};
// Characters of Unicode, with the LaTeX or plain text they stand for.
inline constexpr FormulaName kUnicode[] = {
    {"−", "-"},
    {"–", "-"},
    {"×", "*"},
    {"·", "*"},
    {"⋅", "*"},
    {"÷", "/"},
    {"∕", "/"},
    {"√", "\\surd "},
    {"π", "\\pi "},
    {"∞", "\\infty "},
    {"∪", "\\cup "},
    {"∩", "\\cap "},
    {"≤", "<="},
    {"≥", ">="},
    {"≠", "!="},
    {"±", "\\pm "},
    {"°", "^\\circ "},
    {"²", "^2"},
    {"³", "^3"},
    {"½", "\\frac12"},
    {"¼", "\\frac14"},
    {"¾", "\\frac34"},
    {"∈", "\\in "},
    {"θ", "\\theta "},
    {"α", "\\alpha "},
    {"β", "\\beta "},
    {"λ", "\\lambda "},
    {"，", ","},
    {"（", "("},
    {"）", ")"},
    {"＝", "="},
    {"′", "'"},
    {"’", "'"},
    {"\u00A0", " "},
    {"\u2009", " "},
    {"\u202F", " "},
    {"\u200B", ""},
    {"€", "\\euro "},
    {"£", "\\pounds "},
    {"¥", "\\yen "},
    {"¢", "\\text{ cent}"},
    {"∅", "\\emptyset "},
    {"≈", "\\approx "},
    {"％", "%"},
};

}  // namespace hone
