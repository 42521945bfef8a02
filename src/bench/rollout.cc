#include "bench/rollout.h"

#include <algorithm>

#include "bench/bench_model.h"
#include "bench/filler.h"
#include "bench/opening.h"
#include "bench/timing.h"
#include "core/random.h"
#include "kernels/logprob.h"
#include "models/decoder.h"

namespace hone::bench {

namespace {

struct Case {
  const char* name;
  ForwardShape shape;
};
constexpr Case kCases[] = {
    {"prefill", {1, 512, 512, 1}},
    {"decode_64", {64, 1, 256, 1}},
    {"decode_1", {1, 1, 256, 1}},
};
constexpr double kRepetitionSeconds = 0.1;

template <class T>
void fill(void* data, int64_t size) {
  for (int64_t i = 0; i < size; ++i) static_cast<T*>(data)[i] = T(filler(static_cast<uint64_t>(i)));
}

KvCache filled_cache(const ModelConfig& config, DType dtype, int64_t num_blocks) {
  KvCache kv(config, dtype, num_blocks);
  for (int64_t l = 0; l < config.num_layers; ++l) {
    const kernels::KvLayer& layer = kv.layer(l);
    for (void* half : {layer.keys, layer.values}) {
      (dtype == DType::f32 ? fill<float> : fill<bf16>)(half, num_blocks * layer.block_elements());
    }
  }
  return kv;
}

// Every sequence in blocks of its own; the sequence's last `queries` tokens are computed.
ForwardBatch batch_of(const ForwardShape& shape, const ModelConfig& config) {
  constexpr int64_t kBlock = kernels::kKvBlock;
  ForwardBatch batch;
  batch.max_blocks = (shape.context + kBlock - 1) / kBlock;
  batch.cu_seqlens.push_back(0);
  for (int64_t s = 0; s < shape.sequences; ++s) {
    const int64_t first_block = s * batch.max_blocks;
    for (int64_t position = shape.context - shape.queries; position < shape.context; ++position) {
      const float u = random_uniform({7, Stream::init}, static_cast<uint64_t>(s), 0, static_cast<uint32_t>(position));
      batch.ids.push_back(static_cast<int32_t>(u * static_cast<float>(config.vocab_size - 1)));
      batch.positions.push_back(static_cast<int32_t>(position));
      batch.slots.push_back(static_cast<int32_t>(first_block * kBlock + position));
    }
    batch.logit_rows.push_back(static_cast<int32_t>(batch.ids.size()) - 1);
    batch.cu_seqlens.push_back(static_cast<int32_t>(batch.ids.size()));
    batch.context_lens.push_back(static_cast<int32_t>(shape.context));
    for (int64_t b = 0; b < batch.max_blocks; ++b) batch.block_table.push_back(static_cast<int32_t>(first_block + b));
  }
  return batch;
}

// What the engine does in a step beside its bookkeeping: forward, logits, drawing.
void step(kernels::Context& ctx, const Decoder& decoder, const ForwardBatch& batch, KvCache& kv) {
  const ModelConfig& config = decoder.config();
  const auto R = static_cast<int64_t>(batch.logit_rows.size());
  Arena::Scope scope(ctx.scratch);
  const ComputeView y_RD = ctx.scratch.take(decoder.dtype(), R, config.hidden_size);
  decoder.forward(ctx, batch, kv, y_RD);
  const View<float> logits_RV = ctx.scratch.take<float>(R, config.vocab_size);
  decoder.logits(ctx, logits_RV, y_RD);
  std::vector<int32_t> ids(static_cast<size_t>(R));
  const std::vector<kernels::DrawRow> draws(ids.size(), {1.0f, 0.5f});
  const View<float> logprob_R = ctx.scratch.take<float>(R);
  kernels::sample(ctx, ids, logprob_R, logits_RV, draws, config.vocab_size);
  for (int64_t r = 0; r < R; ++r) HONE_CHECK(logprob_R[r] < 0.0f, "log-prob {} of row {}", logprob_R[r], r);
}

}  // namespace

int run_rollout(const Options& options) {
  Opening opening(options);
  kernels::Context& ctx = opening.ctx;
  const DType dtype = opening.dtype;
  Line& line = opening.line;

  const ModelConfig config = bench_model();
  Decoder decoder(config, dtype);
  decoder.initialize(1);
  decoder.publish(ctx, 0);
  for (const Case& c : kCases) {
    const ForwardBatch batch = batch_of(c.shape, config);
    KvCache kv = filled_cache(config, dtype, c.shape.sequences * batch.max_blocks);
    line.name = c.name;
    line.flops = line.bytes = 0;
    double ideal_seconds = 0;
    for (const Operation& operation : forward_operations(config, c.shape)) {
      line.flops += operation.flops;
      line.bytes += operation.bytes;
      ideal_seconds += operation.ideal_seconds(line.roofs);
    }
    const auto run = [&] { step(ctx, decoder, batch, kv); };
    run();
    const int calls = std::max(1, static_cast<int>(kRepetitionSeconds / ideal_seconds));
    const auto repetition = [&] {
      for (int i = 0; i < calls; ++i) run();
    };
    line.seconds = medians_by_turns(options.repetitions, run, repetition, {}, {}).ours / calls;
    line.ideal_seconds = ideal_seconds;
    line.ratio = ideal_seconds / line.seconds;
    options.print(options.json ? line.json() : line.text());
  }
  return 0;
}

}  // namespace hone::bench
