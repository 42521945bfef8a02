#include "bench/rollout.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "bench/bench_model.h"
#include "bench/filler.h"
#include "bench/opening.h"
#include "bench/timing.h"
#include "core/random.h"
#include "kernels/logprob.h"
#include "models/decoder.h"
#include "models/layout.h"

namespace hone::bench {

namespace {

struct Case {
  const char* name;
  ForwardShape shape;
};
constexpr Case kCases[] = {
    {"prefill", {1, 512, 512, 1}},
    {"decode_64", {64, 1, 256, 1}},
    {"decode_8", {8, 1, 256, 1}},
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

// The products and the attention of a step, on operands of their own, and nothing else.
class StepCore {
 public:
  StepCore(const Decoder& decoder, const ForwardBatch& batch)
      : decoder_(decoder), layout_(decoder.config()), batch_(batch) {
    const ModelConfig& c = decoder.config();
    const int64_t T = batch.num_tokens();
    for (const int64_t columns : {c.hidden_size, c.q_size(), c.intermediate_size}) {
      ComputeView input = memory_.take(decoder.dtype(), T, columns);
      (decoder.dtype() == DType::f32 ? fill<float> : fill<bf16>)(input.data, T * columns);
      inputs_.push_back(input);
    }
    attended_ = memory_.take(decoder.dtype(), T, c.q_size());
    wide_ = memory_.take<float>(T, std::max(c.q_size() + 2 * c.kv_size(), 2 * c.intermediate_size));
    h_TD_ = memory_.take<float>(T, c.hidden_size);
    logits_RV_ = memory_.take<float>(static_cast<int64_t>(batch.logit_rows.size()), c.vocab_size);
  }

  void run(kernels::Context& ctx, const KvCache& kv) {
    const ModelConfig& c = decoder_.config();
    const int64_t T = batch_.num_tokens();
    const auto [x_TD, q_THC, act_TF] = std::tie(inputs_[0], inputs_[1], inputs_[2]);
    const float scale = 1.0f / std::sqrt(static_cast<float>(c.head_dim));
    std::fill_n(h_TD_.data, h_TD_.size(), 0.0f);
    for (size_t l = 0; l < layout_.layers.size(); ++l) {
      const LayerLayout& layer = layout_.layers[l];
      product(ctx, wide_columns(c.q_size() + 2 * c.kv_size()), x_TD, layer.qkv, kernels::Store::overwrite);
      kernels::attention_forward(ctx, attended_, {}, q_THC, kv.layer(static_cast<int64_t>(l)), batch_.sequences(),
                                 scale);
      product(ctx, h_TD_, q_THC, layer.o, kernels::Store::add);
      product(ctx, wide_columns(2 * c.intermediate_size), x_TD, layer.gate_up, kernels::Store::overwrite);
      product(ctx, h_TD_, act_TF, layer.down, kernels::Store::add);
    }
    decoder_.logits(ctx, logits_RV_, x_TD.slice_rows(T - logits_RV_.rows, logits_RV_.rows));
  }

 private:
  void product(kernels::Context& ctx, View<float> y, ConstComputeView x, size_t weights, kernels::Store store) const {
    kernels::product(ctx, y, x, decoder_.parameters()[weights].forward(), store);
  }
  View<float> wide_columns(int64_t columns) const { return {wide_.data, wide_.rows, columns}; }

  const Decoder& decoder_;
  ModelLayout layout_;
  const ForwardBatch& batch_;
  Arena memory_;
  std::vector<ComputeView> inputs_;
  ComputeView attended_;
  View<float> wide_, h_TD_, logits_RV_;
};

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
    StepCore core(decoder, batch);
    const auto run_core = [&] { core.run(ctx, kv); };
    run_core();
    const auto core_repetition = [&] {
      for (int i = 0; i < calls; ++i) run_core();
    };
    const Medians times = medians_by_turns(options.repetitions, run, repetition, run_core, core_repetition);
    line.seconds = times.ours / calls;
    line.ideal_seconds = ideal_seconds;
    line.ratio = ideal_seconds / line.seconds;
    const double core_seconds = times.peers / calls;
    line.parts = {{"products, attention", core_seconds, {}, line.flops},
                  {"the rest", line.seconds - core_seconds, {}, 0}};
    options.print(options.json ? line.json() : line.text());
  }
  return 0;
}

}  // namespace hone::bench
