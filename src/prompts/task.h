// Tasks that Hone makes data for: prompts with ground truths for RL, prompts with worked answers for SFT. Everything is
// a function of the options, and no operands of the held-out part occur in another part.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/random.h"
#include "io/json.h"

namespace hone {

struct TaskSizes {
  int64_t train = 8192, val = 1024, sft = 16384;
  int64_t total() const { return train + val + sft; }
};

// How hard the items of a task are: each from first to last, in turn. What a number means is the task's own.
struct DifficultyRange {
  int first = 1, last = 1;
  int of_item(int64_t index) const { return first + static_cast<int>(index % (last - first + 1)); }
};
// "2" or "1-3". Raises Error for anything else.
DifficultyRange parse_difficulty(const std::string& text);
// Raises Error when the range is not within 1 to `most`.
void check_difficulty(const char* task, const DifficultyRange& range, int most);

// Options of a task that has nothing but a difficulty.
struct TaskOptions {
  DifficultyRange difficulty = {1, 3};
  TaskSizes sizes = {.train = 4096, .val = 512, .sft = 2048};
  uint64_t seed = 1;
};

struct TaskItem {
  std::string prompt;
  std::string response;  // a right answer
  io::Json ground_truth;
  int difficulty = 0;             // 0: not told
  std::vector<int64_t> operands;  // in an order of their own: what makes two items the same
};

struct Task {
  std::string data_source;
  bool chat = false;  // prompts are written as a message of the user
  std::vector<TaskItem> train = {}, val = {}, sft = {};
};

// Random numbers of one attempt to make an item.
class Dice {
 public:
  Dice(uint64_t seed, uint64_t attempt) : seed_(seed), attempt_(attempt) {}
  // In [first, last].
  int64_t between(int64_t first, int64_t last);

 private:
  uint64_t seed_, attempt_;
  uint32_t position_ = 0;
};

// Raises Bug when operands of `val` occur in `train` or `sft`.
void check_held_out(const Task& task);

// Writes train.jsonl and val.jsonl (verl's form) and sft.jsonl ({"prompt", "response"}).
void write_task(const std::string& folder, const Task& task);

}  // namespace hone
