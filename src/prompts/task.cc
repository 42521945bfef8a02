#include "prompts/task.h"

#include <set>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"

namespace hone {

using io::Json;

int64_t Dice::between(int64_t first, int64_t last) {
  HONE_CHECK(first <= last && last - first < (int64_t{1} << 32) - 1, "from {} to {}", first, last);
  const auto bound = static_cast<uint32_t>(last - first + 1);
  return first + random_below({seed_, Stream::data}, attempt_, 0, position_++, bound);
}

void check_held_out(const Task& task) {
  std::set<std::vector<int64_t>> held_out;
  for (const TaskItem& item : task.val) held_out.insert(item.operands);
  for (const auto* part : {&task.train, &task.sft}) {
    for (const TaskItem& item : *part) {
      HONE_CHECK(!held_out.contains(item.operands), "operands of '{}' are held out", item.prompt);
    }
  }
}

namespace {

void write_prompts(const std::string& path, const std::string& data_source, const char* split,
                   const std::vector<TaskItem>& items) {
  io::AtomicFile file(path);
  for (size_t i = 0; i < items.size(); ++i) {
    const Json row =
        Json::object({{"data_source", data_source},
                      {"prompt", items[i].prompt},
                      {"reward_model", Json::object({{"style", "rule"}, {"ground_truth", items[i].ground_truth}})},
                      {"extra_info", Json::object({{"split", split}, {"index", static_cast<int64_t>(i)}})}});
    file.write(row.dump() + "\n");
  }
  file.commit();
}

}  // namespace

void write_task(const std::string& folder, const Task& task) {
  check_held_out(task);
  io::make_folders(folder);
  write_prompts(io::join_path(folder, "train.jsonl"), task.data_source, "train", task.train);
  write_prompts(io::join_path(folder, "val.jsonl"), task.data_source, "val", task.val);
  io::AtomicFile file(io::join_path(folder, "sft.jsonl"));
  for (const TaskItem& item : task.sft) {
    file.write(Json::object({{"prompt", item.prompt}, {"response", item.response}}).dump() + "\n");
  }
  file.commit();
}

}  // namespace hone
