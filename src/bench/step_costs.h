// StepCosts: what a step of the engine costs the 135M shape (bench_model.h), by the tokens it computes: measured, for
// benchmarks whose schedules would take hours on that shape and are run on a small model.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "kernels/context.h"
#include "rollout/engine.h"

namespace hone::bench {

class StepCosts {
 public:
  StepCosts(kernels::Context& ctx, DType dtype);

  // One pass over steps of 1 to 64 decodes and one of 512 ids of prompts.
  void measure();
  // Seconds of a step of so many tokens: between measured sizes, and beyond the largest, on a straight line.
  double seconds(int64_t num_tokens) const;
  // Of a schedule, given the tokens of its steps.
  double seconds(std::span<const int64_t> step_tokens) const;

 private:
  std::unique_ptr<Decoder> decoder_;
  Engine engine_;
  uint64_t draw_ = 0;
  std::map<int64_t, std::vector<double>> times_;  // by tokens of the step
  std::map<int64_t, double> medians_;
};

}  // namespace hone::bench
