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

struct TaskItem {
  std::string prompt;
  std::string response;  // a right answer
  io::Json ground_truth;
  std::vector<int64_t> operands;  // in an order of their own: what makes two items the same
};

struct Task {
  std::string data_source;
  std::vector<TaskItem> train, val, sft;
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
