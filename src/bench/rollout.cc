#include "bench/rollout.h"

#include <algorithm>

#include "bench/bench_model.h"
#include "bench/filler.h"
#include "bench/opening.h"
#include "bench/timing.h"
#include "core/random.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/head_norm_rope.h"
#include "kernels/logprob.h"
#include "kernels/rms_norm.h"
#include "models/decoder.h"
#include "models/layout.h"
#include "models/rope.h"

namespace hone::bench {

namespace {

struct DecodeCase {
  const char* name;
  ForwardShape shape;
};
constexpr DecodeCase kDecodeCases[] = {
    {"prefill", {1, 512, 512, 1}},
    {"decode_64", {64, 1, 256, 1}},
    {"decode_8", {8, 1, 256, 1}},
    {"decode_1", {1, 1, 256, 1}},
};
constexpr double kDecodeSeconds = 0.1;

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

void draw(kernels::Context& ctx, View<const float> logits_RV) {
  const int64_t R = logits_RV.rows;
  Arena::Scope scope(ctx.scratch);
  std::vector<int32_t> ids(static_cast<size_t>(R));
  const std::vector<kernels::DrawRow> draws(ids.size(), {1.0f, 0.5f});
  const View<float> logprob_R = ctx.scratch.take<float>(R);
  kernels::sample(ctx, ids, logprob_R, logits_RV, draws, logits_RV.cols);
  for (int64_t r = 0; r < R; ++r) HONE_CHECK(logprob_R[r] < 0.0f, "log-prob {} of row {}", logprob_R[r], r);
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
  draw(ctx, logits_RV);
}

// What a step does beside products and attention, on operands of its own. Timed alone: the difference of two long times
// would be noise.
class StepRest {
 public:
  StepRest(const Decoder& decoder, const ForwardBatch& batch)
      : decoder_(decoder), layout_(decoder.config()), batch_(batch), inv_freq_(rotary_frequencies(decoder.config())) {
    const ModelConfig& c = decoder.config();
    const int64_t T = batch.num_tokens(), R = static_cast<int64_t>(batch.logit_rows.size());
    for (View<float>* table : {&cos_TR_, &sin_TR_}) *table = memory_.take<float>(T, c.head_dim / 2);
    rrms_ = memory_.take<float>(T * c.num_heads);
    h_TD_ = filled(T, c.hidden_size);
    qkv_TN_ = filled(T, c.q_size() + 2 * c.kv_size());
    gate_up_T2F_ = filled(T, 2 * c.intermediate_size);
    logits_RV_ = filled(R, c.vocab_size);
    const DType dtype = decoder.dtype();
    normed_TD_ = memory_.take(dtype, T, c.hidden_size);
    q_THC_ = memory_.take(dtype, T, c.q_size());
    k_THC_ = memory_.take(dtype, T, c.kv_size());
    v_THC_ = memory_.take(dtype, T, c.kv_size());
    act_TF_ = memory_.take(dtype, T, c.intermediate_size);
  }

  void run(kernels::Context& ctx, KvCache& kv) {
    const ModelConfig& c = decoder_.config();
    kernels::rope_tables(ctx, cos_TR_, sin_TR_, batch_.positions, inv_freq_, 1.0f);
    kernels::embedding_forward(ctx, h_TD_, batch_.ids, decoder_.parameters()[layout_.embedding].forward());
    for (size_t l = 0; l < layout_.layers.size(); ++l) {
      const LayerLayout& layer = layout_.layers[l];
      norm(ctx, layer.input_norm);
      head_norm_rope(ctx, q_THC_, 0, c.num_heads, *layer.q_norm);
      head_norm_rope(ctx, k_THC_, c.q_size(), c.num_kv_heads, *layer.k_norm);
      const View<const float> v = qkv_TN_.slice_cols(c.q_size() + c.kv_size(), c.kv_size());
      if (decoder_.dtype() != DType::f32) kernels::convert(ctx, v_THC_, v);
      kernels::kv_write(ctx, kv.layer(static_cast<int64_t>(l)), k_THC_,
                        decoder_.dtype() == DType::f32 ? ConstComputeView(v) : v_THC_, batch_.slots);
      norm(ctx, layer.post_norm);
      kernels::swiglu_forward(ctx, act_TF_, gate_up_T2F_);
    }
    norm(ctx, layout_.final_norm);
    draw(ctx, logits_RV_);
  }

 private:
  View<float> filled(int64_t rows, int64_t cols) {
    const View<float> view = memory_.take<float>(rows, cols);
    fill<float>(view.data, view.size());
    return view;
  }
  void norm(kernels::Context& ctx, size_t weight) {
    kernels::rms_norm_forward(ctx, normed_TD_, {rrms_.data, h_TD_.rows}, h_TD_, decoder_.parameters()[weight].vector(),
                              decoder_.config().rms_norm_eps);
  }
  void head_norm_rope(kernels::Context& ctx, ComputeView y_THC, int64_t column, int64_t num_heads, size_t weight) {
    kernels::head_norm_rope_forward(ctx, y_THC, {rrms_.data, y_THC.rows, num_heads},
                                    qkv_TN_.slice_cols(column, y_THC.cols), decoder_.parameters()[weight].vector(),
                                    num_heads, cos_TR_, sin_TR_, decoder_.config().rms_norm_eps);
  }

  const Decoder& decoder_;
  ModelLayout layout_;
  const ForwardBatch& batch_;
  std::vector<float> inv_freq_;
  Arena memory_;
  View<float> cos_TR_, sin_TR_, rrms_, h_TD_, qkv_TN_, gate_up_T2F_, logits_RV_;
  ComputeView normed_TD_, q_THC_, k_THC_, v_THC_, act_TF_;
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
  for (const DecodeCase& c : kDecodeCases) {
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
    const int calls = std::max(1, static_cast<int>(kDecodeSeconds / ideal_seconds));
    const auto repetition = [&] {
      for (int i = 0; i < calls; ++i) run();
    };
    StepRest rest(decoder, batch);
    const auto run_rest = [&] { rest.run(ctx, kv); };
    run_rest();
    const auto rest_repetition = [&] {
      for (int i = 0; i < calls; ++i) run_rest();
    };
    const Medians times = medians_by_turns(options.repetitions, run, repetition, run_rest, rest_repetition);
    line.seconds = times.ours / calls;
    line.ideal_seconds = ideal_seconds;
    line.ratio = ideal_seconds / line.seconds;
    line.parts = {{"all but products and attention", times.peers / calls, {}, 0}};
    options.print(options.json ? line.json() : line.text());
  }
  return 0;
}

}  // namespace hone::bench
