#include "bench/step_costs.h"

#include "bench/bench_model.h"
#include "bench/timing.h"

namespace hone::bench {

namespace {

constexpr int64_t kPromptIds = 8, kStepsEach = 3;
constexpr int64_t kRows[] = {64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1};

EngineOptions engine_options() {
  EngineOptions options;
  options.max_num_seqs = kRows[0];
  options.max_num_batched_tokens = 2048;
  options.num_kv_blocks = 3 * kRows[0];
  return options;
}

// Steps that an answer takes so that kStepsEach steps have each number of rows, from many to few.
int64_t length_of(int64_t answer) {
  int64_t length = 1;  // drawn with the prompt
  for (const int64_t rows : kRows) {
    if (answer < rows) length += kStepsEach;
  }
  return length;
}

const Prompt& prompt() {
  static const Prompt made = [] {
    Prompt p;
    for (int32_t i = 0; i < kPromptIds; ++i) p.ids.push_back(1 + i);
    return p;
  }();
  return made;
}

}  // namespace

StepCosts::StepCosts(kernels::Context& ctx, DType dtype)
    : decoder_(published_decoder(ctx, bench_model(), dtype)), engine_(ctx, *decoder_, engine_options()) {}

void StepCosts::measure() {
  SamplingParams sampling;
  sampling.ignore_eos = true;
  sampling.key = {1, Stream::bench};
  for (int64_t answer = 0; answer < kRows[0]; ++answer) {
    sampling.max_new_tokens = length_of(answer);
    engine_.add({&prompt(), draw_++}, 1, sampling);
  }
  while (engine_.has_work()) {
    const EngineStats before = engine_.stats();
    const double seconds = seconds_of([&] { engine_.step(); });
    const EngineStats after = engine_.stats();
    const int64_t prefilled = after.num_prefilled - before.num_prefilled;
    times_[prefilled > 0 ? prefilled : after.num_generated - before.num_generated].push_back(seconds);
  }
  engine_.take_finished();
  for (const auto& [tokens, times] : times_) medians_[tokens] = median(times);
}

double StepCosts::seconds(int64_t num_tokens) const {
  HONE_CHECK(medians_.size() >= 2 && num_tokens >= 1, "{} sizes, {} tokens", medians_.size(), num_tokens);
  auto right = medians_.lower_bound(num_tokens);
  if (right == medians_.end()) --right;
  if (right == medians_.begin()) return right->second;
  const auto left = std::prev(right);
  const double slope = (right->second - left->second) / static_cast<double>(right->first - left->first);
  return left->second + slope * static_cast<double>(num_tokens - left->first);
}

double StepCosts::seconds(std::span<const int64_t> step_tokens) const {
  double sum = 0;
  for (const int64_t tokens : step_tokens) sum += seconds(tokens);
  return sum;
}

}  // namespace hone::bench
