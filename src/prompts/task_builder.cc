#include "prompts/task_builder.h"

#include <set>

#include "core/error.h"

namespace hone {

Task build_task(Task task, const TaskSizes& sizes, uint64_t seed,
                const std::function<std::optional<TaskItem>(Dice& dice, int64_t index)>& make) {
  constexpr uint64_t kAttemptsPerItem = 200;
  std::set<std::vector<int64_t>> seen;
  const uint64_t max_attempts = kAttemptsPerItem * static_cast<uint64_t>(sizes.total());
  int64_t index = 0;
  for (uint64_t attempt = 0; index < sizes.total(); ++attempt) {
    if (attempt == max_attempts) {
      throw Error(fmt::format("{}: only {} items with different operands found, {} are asked for", task.data_source,
                              index, sizes.total()),
                  "ask for fewer items, or for larger or more operands");
    }
    Dice dice(seed, attempt);
    std::optional<TaskItem> item = make(dice, index);
    if (!item || !seen.insert(item->operands).second) continue;
    auto& part = index < sizes.val ? task.val : index < sizes.val + sizes.train ? task.train : task.sft;
    part.push_back(std::move(*item));
    ++index;
  }
  check_held_out(task);
  return task;
}

}  // namespace hone
