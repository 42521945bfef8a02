// One result of a benchmark, as a JSON object or as a line to read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/roofs.h"

namespace hone::bench {

// Time of a part of the result, e.g. one shape: once, in seconds.
struct Part {
  std::string name;
  double seconds = 0;
  std::optional<double> peer_seconds;
  double flops = 0;
};

struct Line {
  std::string name, dtype, target;
  int threads = 0;
  double seconds = 0;  // median of interleaved repetitions
  double flops = 0;    // additions and multiplications that the mathematics needs
  double bytes = 0;    // that must come from memory
  Roofs roofs;
  std::string peer;  // name and version; empty without one
  std::optional<double> peer_seconds, ratio;
  std::optional<double> ideal_seconds;      // of every operation the slower of its sums at the roof and its bytes
  std::optional<double> peak_memory_bytes;  // of the process
  std::vector<Part> parts;

  std::string json() const;
  std::string text() const;
};

}  // namespace hone::bench
