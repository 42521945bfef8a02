// Task hone/sorting: numbers or words to be put in order, as a chat message.
//   prompt    Sort these numbers from smallest to largest: 40, 3, 12. Put the sorted list, with commas, in <answer> ...
//   response  <answer>3, 12, 40</answer>
#pragma once

#include "prompts/task.h"

namespace hone {

// Difficulty 1: 3 or 4 numbers to 99, or words   2: 5 or 6, to 999   3: 7 to 9, from -999 to 999   4: 10 to 14, the
// same.

// The items of a list differ from each other. Lists of the same items, in whatever order and direction, count as the
// same.
Task make_sorting(const TaskOptions& options);

}  // namespace hone
