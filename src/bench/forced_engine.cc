#include "bench/forced_engine.h"

#include "bench/bench_model.h"
#include "rollout/step_cost.h"

namespace hone::bench {

namespace {

constexpr int64_t kSeats = 64, kPromptIds = 8, kMaxIds = 1024;

// Large enough that a step of many rows is bound by arithmetic and one of few by its weights.
ModelConfig small_model() {
  ModelConfig c;
  c.vocab_size = 1024;
  c.hidden_size = 256;
  c.intermediate_size = 512;
  c.num_layers = 4;
  c.num_heads = 4;
  c.num_kv_heads = 2;
  c.head_dim = 64;
  c.max_position_embeddings = 2 * kMaxIds;
  c.tie_word_embeddings = true;
  return c;
}

EngineOptions engine_options() {
  EngineOptions options;
  options.max_num_seqs = kSeats;
  options.max_num_batched_tokens = 2048;
  options.num_kv_blocks = kSeats * (kMaxIds / kernels::kKvBlock + 1);
  return options;
}

SamplingParams forced_sampling(const ForcedAnswer& answer) {
  SamplingParams sampling;
  sampling.ignore_eos = true;
  sampling.key = {1, Stream::bench};
  sampling.max_new_tokens = answer.num_ids;
  return sampling;
}

}  // namespace

CostCurve cost_of_bench_model(kernels::Context& ctx, DType dtype) {
  const ModelConfig config = bench_model();
  const auto decoder = published_decoder(ctx, config, dtype);
  KvCache kv(config, dtype, kSeats);
  return CostCurve(measure_step_cost(ctx, *decoder, kv, kSeats * kPromptIds));
}

double seconds_of_steps(const CostCurve& cost, std::span<const int64_t> step_tokens) {
  double sum = 0;
  for (const int64_t tokens : step_tokens) sum += cost.seconds(tokens);
  return sum;
}

ForcedEngine::ForcedEngine(kernels::Context& ctx, DType dtype)
    : ctx_(ctx), decoder_(published_decoder(ctx, small_model(), dtype)), engine_(ctx, *decoder_, engine_options()) {
  for (int32_t i = 0; i < kPromptIds; ++i) prompt_.ids.push_back(1 + i);
}

void ForcedEngine::add(const ForcedAnswer& answer) { engine_.add({&prompt_, answer.draw}, 1, forced_sampling(answer)); }

void ForcedEngine::add(const UnfinishedGroup& unfinished, const ForcedAnswer& answer) {
  engine_.add(unfinished, forced_sampling(answer));
}

void ForcedEngine::run(const std::function<bool(std::span<const Group>)>& stop) {
  while (engine_.has_work()) {
    const EngineStats before = engine_.stats();
    engine_.step();
    const EngineStats after = engine_.stats();
    const int64_t prefilled = after.num_prefilled - before.num_prefilled;
    num_prefilled_ += prefilled;
    step_tokens_.push_back(prefilled + after.num_generated - before.num_generated);
    const std::vector<Group> ended = engine_.take_finished();
    if (stop && stop(ended)) return;
  }
}

}  // namespace hone::bench
