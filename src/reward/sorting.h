// Data source hone/sorting: a list in its order. Ground truth: "3, 12, 40". The answer is what stands in the last
// <answer>...</answer>, else in the last line that is not blank.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "records/trajectory.h"

namespace hone {

// 1 when the items are those of the ground truth in their order, otherwise 0. Items end at commas and white space;
// brackets, quotes, stars, a full stop at the end and the case of letters do not count.
Score score_sorting(std::string_view text, std::string_view ground_truth);

// A ground truth has at least one item.
std::optional<std::string> find_sorting_fault(std::string_view ground_truth);

}  // namespace hone
