// Scorer math_dapo (DAPO-Math-17k and AIME in verl): what follows the last "Answer:", to the end of its line, against
// the ground truth, both in Minerva's normal form; or the last box as it is. Beyond verl's, the whole answer is
// searched, not its last 300 (100) characters.
#pragma once

#include <string_view>

#include "records/trajectory.h"

namespace hone {

// 1 or -1. Reports acc (1 or 0) and pred.
Score score_math_dapo(std::string_view text, std::string_view ground_truth);
// The strict form: the content of the last \boxed{} is the ground truth, byte for byte.
Score score_math_dapo_strict(std::string_view text, std::string_view ground_truth);

// Whether there is such a line.
bool has_answer_line(std::string_view text);

}  // namespace hone
