// Task hone/word_problems: short stories in English whose answer is a whole number, as a chat message that asks to end
// with it. Everyday names and things, one to three calculations with small numbers.
//   prompt    Mia has 12 apples. A friend gives her 5 more. How many apples does Mia have now? Let's think step by ...
//   response  Mia has 12 + 5 = 17 apples now.
//             #### 17
#pragma once

#include "prompts/task.h"

namespace hone {

// Difficulty: steps of a problem, 1 to 3. Items with the same story and the same numbers count as the same, whatever
// the names and things.
Task make_word_problems(const TaskOptions& options);

}  // namespace hone
