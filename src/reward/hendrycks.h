// The normal form in which answers to the MATH data are compared (Hendrycks et al. 2021, "Measuring mathematical
// problem solving with the MATH dataset"; the rules are those that verl's math_reward follows), in time linear in the
// text.
#pragma once

#include <string>
#include <string_view>

namespace hone {

std::string hendrycks_form(std::string_view answer);

}  // namespace hone
