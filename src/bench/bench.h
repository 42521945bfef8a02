// Benchmarks by name: every one gives lines with the same machine readings beside its own numbers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bf16.h"

namespace hone::bench {

struct Options {
  std::optional<DType> dtype;                   // default: bf16 where the processor has its dot product, else f32
  int threads = 0;                              // 0: one for each core
  int repetitions = 9;                          // of each timing, ours and the peer's by turns
  std::string tokenizer, text;                  // tokenize: folder and file; empty: made by the benchmark
  bool json = false;                            // one JSON object a line; else a line to read
  std::string model;                            // load: a folder in place of made ones
  std::vector<std::string> families;            // load: which to make; none: all
  std::function<void(std::string_view)> print;  // receives each line
};

std::vector<std::string_view> names();
// Runs one benchmark; returns the exit code. Raises Error for an unknown name.
int run(std::string_view name, const Options& options);

}  // namespace hone::bench
