// Scorer prime_math (the NuminaMath sources in verl): the answer behind the last of several marks, compared as
// mathematics. The marks are verl's, the comparison is our own (math_compare.h), and a text without any mark has no
// answer.
#pragma once

#include <optional>
#include <string_view>

#include "records/trajectory.h"

namespace hone {

// 1 or 0; absent where the comparison is undecided.
Score score_prime_math(std::string_view text, std::string_view ground_truth);

// What follows the last "answer:" or "answer is", in it the last box, the last "is", "=", "get" and the like. A box
// that never closes gives an empty answer.
std::optional<std::string_view> find_marked_answer(std::string_view text);

}  // namespace hone
