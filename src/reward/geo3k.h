// Scorer geo3k (hiyouga/geometry3k in verl): nine tenths for the last box, compared strictly, and one tenth for the
// form <think>...</think>...\boxed{...}.
#pragma once

#include <string_view>

#include "records/trajectory.h"

namespace hone {

// 1, 0.9, 0.1 or 0; absent where the comparison is undecided. Reports pred and format (1 or 0).
Score score_geo3k(std::string_view text, std::string_view ground_truth);

// Right when the normal forms of Hendrycks et al. are the same, or the mathematics is, with fractions and whole numbers
// as they are written in the ground truth (the rule of PRM800K, Lightman et al. 2023).
Verdict grade_strictly(std::string_view answer, std::string_view ground_truth);

}  // namespace hone
