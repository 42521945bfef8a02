// Scorers of openai/gsm8k: the number of an answer against the number of the ground truth, as text.
// The rules are verl's strict ones (the last "#### NUMBER"), but the whole answer is searched, in linear time, and a
// comma or full stop after a number is no part of it; commas separate thousands only in groups of three.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "records/trajectory.h"

namespace hone {

// 1 when the number is the ground truth, otherwise 0; "no answer found" when there is no number. The
// number is reported as `pred`.
Score score_gsm8k(std::string_view text, std::string_view ground_truth);
// The same with the last number of the answer, marked or not (verl's flexible method).
Score score_gsm8k_flexible(std::string_view text, std::string_view ground_truth);

// A ground truth holds at least one digit.
std::optional<std::string> find_gsm8k_fault(std::string_view ground_truth);

}  // namespace hone
