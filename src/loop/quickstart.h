// The quickstart: data, a small model by SFT from random weights, GRPO on top, and what it learnt, in numbers.
#pragma once

#include <cstdint>
#include <string>

namespace hone {

struct QuickstartOptions {
  std::string recipes = "recipes/quickstart";  // config.json, sft.yaml, grpo.yaml
  std::string out = "runs/quickstart";         // emptied of an earlier quickstart first
  uint64_t seed = 1;
  int threads = 0;
  // Also: RL with shuffled rewards, and as long again of SFT. If the gain is the reward's, the first has none.
  bool control = false;
};

// Writes OUT/summary.json and prints the same to standard output. Returns the exit code.
int run_quickstart(const QuickstartOptions& options);

}  // namespace hone
