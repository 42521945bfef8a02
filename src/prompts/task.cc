#include "prompts/task.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "prompts/chat_rows.h"
#include "prompts/verl_row.h"

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

std::string text_of(const DifficultyRange& range) {
  return range.first == range.last ? std::to_string(range.first) : fmt::format("{}-{}", range.first, range.last);
}

}  // namespace

DifficultyRange parse_difficulty(const std::string& text) {
  const size_t dash = std::min(text.find('-'), text.size());
  const auto number = [&](const std::string& part) {
    if (part.empty() || part.size() > 3 || part.find_first_not_of("0123456789") != std::string::npos) {
      throw Error(fmt::format("difficulty '{}': expected a number or a range", text), "2 or 1-3, for example");
    }
    return std::stoi(part);
  };
  DifficultyRange range;
  range.first = range.last = number(text.substr(0, dash));
  if (dash < text.size()) range.last = number(text.substr(dash + 1));
  return range;
}

void check_difficulty(const char* task, const DifficultyRange& range, int most) {
  if (1 <= range.first && range.first <= range.last && range.last <= most) return;
  throw Error(fmt::format("{}: difficulty {}", task, text_of(range)), fmt::format("it goes from 1 to {}", most));
}

namespace {

Json prompt_of(const Task& task, const TaskItem& item) {
  if (!task.chat) return item.prompt;
  return user_message(item.prompt);
}

void write_prompts(const std::string& path, const Task& task, const char* split, const std::vector<TaskItem>& items) {
  io::AtomicFile file(path);
  for (size_t i = 0; i < items.size(); ++i) {
    Json extra = Json::object({{"split", split}, {"index", static_cast<int64_t>(i)}});
    if (items[i].difficulty > 0) extra.set("difficulty", items[i].difficulty);
    const Json row = verl_row(task.data_source, prompt_of(task, items[i]), "", "rule", items[i].ground_truth, extra);
    file.write(row.dump() + "\n");
  }
  file.commit();
}

}  // namespace

void write_task(const std::string& folder, const Task& task) {
  check_held_out(task);
  io::make_folders(folder);
  write_prompts(io::join_path(folder, "train.jsonl"), task, "train", task.train);
  write_prompts(io::join_path(folder, "val.jsonl"), task, "val", task.val);
  io::AtomicFile file(io::join_path(folder, "sft.jsonl"));
  for (const TaskItem& item : task.sft) {
    file.write(Json::object({{"prompt", prompt_of(task, item)}, {"response", item.response}}).dump() + "\n");
  }
  file.commit();
}

}  // namespace hone
