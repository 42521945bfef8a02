// Fills the parts of a task with items of distinct operands, made by attempt after attempt.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "prompts/task.h"

namespace hone {

// make(dice, index) gives item `index` of the whole, or nothing when this attempt led nowhere. Held-out items come
// first. `task` says what it is and has no items. Raises Error when there are too few different operands.
Task build_task(Task task, const TaskSizes& sizes, uint64_t seed,
                const std::function<std::optional<TaskItem>(Dice& dice, int64_t index)>& make);

}  // namespace hone
