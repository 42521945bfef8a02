#include "rollout/step_cost.h"

#include <algorithm>
#include <chrono>

#include "kernels/logprob.h"

namespace hone {

namespace {

constexpr int64_t kRows[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
constexpr int64_t kContext = 256;
constexpr int64_t kLogitsBytes = 64 << 20;  // of a step measured here
constexpr int kTimes = 3;

// The last `rows` ids of one sequence, each of which draws.
ForwardBatch batch_of(int64_t rows, int64_t context) {
  ForwardBatch batch;
  for (int64_t position = context - rows; position < context; ++position) {
    batch.logit_rows.push_back(static_cast<int32_t>(batch.ids.size()));
    batch.ids.push_back(0);
    batch.positions.push_back(static_cast<int32_t>(position));
    batch.slots.push_back(static_cast<int32_t>(position));
  }
  batch.cu_seqlens = {0, static_cast<int32_t>(rows)};
  batch.context_lens = {static_cast<int32_t>(context)};
  batch.max_blocks = (context + kernels::kKvBlock - 1) / kernels::kKvBlock;
  for (int64_t b = 0; b < batch.max_blocks; ++b) batch.block_table.push_back(static_cast<int32_t>(b));
  return batch;
}

double seconds_of_step(kernels::Context& ctx, const Decoder& decoder, KvCache& kv, const ForwardBatch& batch) {
  const auto start = std::chrono::steady_clock::now();
  const int64_t R = batch.num_tokens(), V = decoder.config().vocab_size;
  Arena::Scope scope(ctx.scratch);
  const ComputeView y_RD = ctx.scratch.take(decoder.dtype(), R, decoder.config().hidden_size);
  decoder.forward(ctx, batch, kv, y_RD);
  const View<float> logits_RV = ctx.scratch.take<float>(R, V);
  decoder.logits(ctx, logits_RV, y_RD);
  std::vector<int32_t> ids(static_cast<size_t>(R));
  const std::vector<kernels::DrawRow> draws(ids.size(), {1.0f, 0.5f});
  kernels::sample(ctx, ids, ctx.scratch.take<float>(R), logits_RV, draws, V);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::vector<CostPoint> measure_step_cost(kernels::Context& ctx, const Decoder& decoder, KvCache& kv, int64_t max_rows) {
  int64_t capacity = kv.num_blocks() * kernels::kKvBlock;
  if (const int64_t positions = decoder.config().max_position_embeddings; positions > 0) {
    capacity = std::min(capacity, positions);
  }
  const int64_t most_logits = kLogitsBytes / (decoder.config().vocab_size * int64_t(sizeof(float)));
  std::vector<CostPoint> points;
  for (int64_t rows : kRows) {
    if (rows > 1 && (rows > std::min(max_rows, capacity) || rows > most_logits)) break;
    const ForwardBatch batch = batch_of(rows, std::min(kContext, capacity));
    if (points.empty()) seconds_of_step(ctx, decoder, kv, batch);  // memory is touched, threads are awake
    double seconds = seconds_of_step(ctx, decoder, kv, batch);
    for (int i = 1; i < kTimes; ++i) seconds = std::min(seconds, seconds_of_step(ctx, decoder, kv, batch));
    points.push_back({rows, seconds});
  }
  return points;
}

}  // namespace hone
