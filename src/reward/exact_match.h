// Scorers that compare texts: exact_match, and search_em for questions whose answers are found by searching (verl's
// searchR1 sources).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "records/trajectory.h"

namespace hone {

// 1 when the answer is the ground truth but for white space at the ends, else 0. With tags, the answer is what stands
// in the last complete <answer>...</answer>.
Score score_exact_match(std::string_view text, std::string_view ground_truth);

// What stands in the last complete <answer>...</answer> against each of the targets, without case, punctuation and
// articles: 1, a quarter where more than ten such tags try their luck, else 0. The ground truth is a text or, as in
// verl's data, {"target": text or list of texts}.
Score score_search_em(std::string_view text, std::string_view ground_truth);

std::optional<std::string> find_exact_match_fault(std::string_view ground_truth);
std::optional<std::string> find_search_em_fault(std::string_view ground_truth);

}  // namespace hone
