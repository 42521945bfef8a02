// The normal form in which answers to MATH-like questions are compared by math_dapo (after Lewkowycz et al. 2022,
// "Solving quantitative reasoning problems with language models", appendix G; the rules are those that verl follows).
#pragma once

#include <string>
#include <string_view>

namespace hone {

std::string minerva_form(std::string_view answer);

}  // namespace hone
