// Scorer math (verl's math_reward, for the MATH data): the last box against the ground truth, both in the normal form
// of Hendrycks et al. Beyond verl's: \fbox works like \boxed, a box may stand apart from its brace, and commas that
// separate thousands do not matter.
#pragma once

#include <string_view>

#include "records/trajectory.h"

namespace hone {

// 1 or 0. A box that never closes is a wrong answer.
Score score_math(std::string_view text, std::string_view ground_truth);

}  // namespace hone
