// Scorer multiple_choice: the letter that an answer chooses, A to J.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "records/trajectory.h"

namespace hone {

// 1 or 0. The letter is that of the last box; else what follows the last "answer", "option" or "choice" that is
// followed by one, or, where there is none, a last line that is a letter alone: "(B)", "B.", "**B**". Of "B) 42" and
// "B. Paris" it is B. The ground truth is a letter, or written as one of these.
Score score_multiple_choice(std::string_view text, std::string_view ground_truth);

std::optional<std::string> find_multiple_choice_fault(std::string_view ground_truth);

}  // namespace hone
