// ForcedEngine: the engine on a small model with answers whose lengths are given, for benchmarks of schedules. It
// counts the tokens of every step, so that the same schedule can be priced for the 135M shape (bench_model.h), on which
// it would take hours.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels/context.h"
#include "rollout/draft_budget.h"
#include "rollout/engine.h"

namespace hone::bench {

struct ForcedAnswer {
  uint64_t draw = 0;
  int64_t num_ids = 0;
};

// What a step of the 135M shape costs by the tokens it computes, measured now.
CostCurve cost_of_bench_model(kernels::Context& ctx, DType dtype);
// Of a schedule, given the tokens of its steps.
double seconds_of_steps(const CostCurve& cost, std::span<const int64_t> step_tokens);

class ForcedEngine {
 public:
  // 64 answers run at once.
  ForcedEngine(kernels::Context& ctx, DType dtype);

  void add(const ForcedAnswer& answer);
  void add(const UnfinishedGroup& unfinished, const ForcedAnswer& answer);
  // Steps until no work is left or `stop`, given what has ended since the last call, says so.
  void run(const std::function<bool(std::span<const Group>)>& stop = {});
  std::vector<UnfinishedGroup> take_unfinished() { return engine_.take_unfinished(); }
  // New weights, as after an update: what was computed with the old ones is of no use.
  void publish() { decoder_->publish(ctx_, ++version_); }

  // Since the last call.
  std::vector<int64_t> take_step_tokens() { return std::exchange(step_tokens_, {}); }
  int64_t take_num_prefilled() { return std::exchange(num_prefilled_, 0); }

 private:
  kernels::Context& ctx_;
  std::unique_ptr<Decoder> decoder_;
  int32_t version_ = 0;
  Engine engine_;
  Prompt prompt_;
  std::vector<int64_t> step_tokens_;
  int64_t num_prefilled_ = 0;
};

}  // namespace hone::bench
