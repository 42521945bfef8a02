// Data source hone/arithmetic: worked sums, of which the result alone is judged.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "records/trajectory.h"

namespace hone {

// 1 when the answer ended with an end id and what follows its last '=' is the ground truth; otherwise 0. That
// result is reported as `pred`.
Score score_arithmetic(std::string_view text, std::string_view ground_truth, FinishReason finish);

// A ground truth is a run of digits.
std::optional<std::string> find_arithmetic_fault(std::string_view ground_truth);

}  // namespace hone
