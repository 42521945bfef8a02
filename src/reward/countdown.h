// Data source hone/countdown: an expression that uses each given number exactly once and has the target as its value.
// Ground truth: {"target": 24, "numbers": [3, 5, 7]}. The answer is what stands in the last <answer>...</answer>.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "records/trajectory.h"

namespace hone {

// 1 when the expression is right, otherwise 0 with what is wrong. Exact arithmetic; expressions are at most 1,000
// bytes.
Score score_countdown(std::string_view text, std::string_view ground_truth);

// Numbers are not negative, and small enough that no expression of them overflows (see expression.h).
std::optional<std::string> find_countdown_fault(std::string_view ground_truth);

}  // namespace hone
