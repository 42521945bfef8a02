#include "models/decoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/random.h"
#include "kernels/bias.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/head_norm_rope.h"
#include "kernels/rms_norm.h"
#include "models/activations.h"
#include "models/rope.h"

namespace hone {

namespace {

void copy_rows(View<float> to, View<const float> from) {
  HONE_CHECK(to.rows == from.rows && to.contiguous() && from.contiguous(), "{} and {} rows", to.rows, from.rows);
  if (to.size() > 0) std::memcpy(to.data, from.data, static_cast<size_t>(to.size()) * sizeof(float));
}

// Rows that also go elsewhere.
ConstComputeView gather_rows(kernels::Context& ctx, ConstComputeView from, std::span<const int32_t> rows) {
  ComputeView to = ctx.scratch.take(from.dtype, static_cast<int64_t>(rows.size()), from.cols);
  for (size_t r = 0; r < rows.size(); ++r) {
    std::memcpy(to.row(static_cast<int64_t>(r)), from.row(rows[r]),
                static_cast<size_t>(from.cols * size_bytes(from.dtype)));
  }
  return to;
}

// A float matrix as the next product reads it: itself in float32, a rounded copy in bf16.
ConstComputeView as_product_input(kernels::Context& ctx, DType dtype, View<const float> x) {
  if (dtype == DType::f32) return x;
  ComputeView rounded = ctx.scratch.take(dtype, x.rows, x.cols);
  kernels::convert(ctx, rounded, x);
  return rounded;
}

}  // namespace

Decoder::Decoder(const ModelConfig& config, DType dtype, DecoderUse use)
    : config_(config), dtype_(dtype), layout_(config), inv_freq_(rotary_frequencies(config)) {
  for (size_t p = 0; p < layout_.parameters.size(); ++p) {
    const bool is_looked_up = p == layout_.embedding;  // as floats
    parameters_.emplace_back(layout_.parameters[p], dtype, is_looked_up || use == DecoderUse::train);
  }
}

Decoder::Decoder(const ModelConfig& config, DType dtype, const LoraConfig& lora)
    : Decoder(config, dtype, lora.rank > 0 ? DecoderUse::sample : DecoderUse::train) {
  lora_ = lora;
  lora_layout_ = LoraLayout(layout_, lora);
  for (const ParameterSpec& spec : lora_layout_.parameters) adapters_.emplace_back(spec, dtype, true);
}

Decoder::~Decoder() = default;

void Decoder::initialize(uint64_t seed) {
  kernels::Context alone(1);
  initialize(alone, seed);
}

void Decoder::initialize(kernels::Context& ctx, uint64_t seed) {
  for (size_t p = 0; p < parameters_.size(); ++p) {
    Parameter& parameter = parameters_[p];
    parameter.fill(ctx, [&](int64_t first_row, int64_t rows, float* out) {
      const int64_t begin = first_row * parameter.cols(), size = rows * parameter.cols();
      if (parameter.kind() != ParameterKind::matrix) {
        std::fill_n(out, size, parameter.kind() == ParameterKind::norm ? 1.0f : 0.0f);
        return;
      }
      for (int64_t i = 0; i < size; ++i) {
        out[i] = config_.initializer_range *
                 random_normal({seed, Stream::init}, static_cast<uint64_t>(begin + i), static_cast<uint32_t>(p), 0);
      }
    });
  }
  version_ = 0;
}

void Decoder::initialize_adapters(kernels::Context& ctx, uint64_t seed) {
  for (const std::vector<LoraPiece>& pieces : lora_layout_.pieces) {
    for (const LoraPiece& piece : pieces) {
      Parameter &a = adapters_[piece.a], &b = adapters_[piece.b];
      const float bound = 1.0f / std::sqrt(static_cast<float>(a.cols()));
      a.fill(ctx, [&](int64_t first_row, int64_t rows, float* out) {
        for (int64_t i = 0; i < rows * a.cols(); ++i) {
          const auto at = static_cast<uint64_t>(first_row * a.cols() + i);
          const auto stream = static_cast<uint32_t>(parameters_.size() + piece.a);  // beside those of initialize()
          out[i] = bound * (2 * random_uniform({seed, Stream::init}, at, stream, 0) - 1);
        }
      });
      b.fill(ctx, [&](int64_t, int64_t rows, float* out) { std::fill_n(out, rows * b.cols(), 0.0f); });
    }
  }
}

void Decoder::allocate_gradients() {
  for (Parameter& parameter : trained()) parameter.allocate_gradient();
}

void Decoder::zero_gradients(kernels::Context& ctx) {
  for (Parameter& parameter : trained()) {
    View<float> g = parameter.gradient();
    constexpr int64_t kTile = 1 << 16;
    ctx.team.run((g.size() + kTile - 1) / kTile, [&](int64_t tile) {
      const int64_t begin = tile * kTile, count = std::min(kTile, g.size() - begin);
      std::memset(g.data + begin, 0, static_cast<size_t>(count) * sizeof(float));
    });
  }
}

void Decoder::publish(kernels::Context& ctx, int32_t version) {
  for (Parameter& parameter : parameters_) parameter.lay_out(ctx);
  for (Parameter& parameter : adapters_) parameter.lay_out(ctx);
  version_ = version;
  has_transposed_head_ = false;
}

Decoder::ActivationsPtr Decoder::make_activations(Recompute recompute) {
  return ActivationsPtr(new Activations(recompute));
}

void Decoder::DeleteActivations::operator()(Activations* activations) const { delete activations; }

void Decoder::forward(kernels::Context& ctx, const ForwardBatch& batch, KvCache& kv, ComputeView y_RD,
                      Activations* saved) const {
  const int64_t T = batch.num_tokens();
  Arena::Scope scope(ctx.scratch);
  Arena& memory = saved != nullptr ? saved->memory : ctx.scratch;
  if (saved != nullptr) saved->begin();
  View<float> cos_TR = memory.take<float>(T, config_.head_dim / 2);
  View<float> sin_TR = memory.take<float>(T, config_.head_dim / 2);
  kernels::rope_tables(ctx, cos_TR, sin_TR, batch.positions, inv_freq_, rotary_attention_factor(config_));

  View<float> h_TD = ctx.scratch.take<float>(T, config_.hidden_size);
  const Parameter& embedding = at(layout_.embedding);
  if (embedding.spec().packed) {
    kernels::embedding_forward(ctx, h_TD, batch.ids, embedding.forward());
  } else {
    kernels::embedding_forward(ctx, h_TD, batch.ids, embedding.table());
  }
  const bool keeps_all = saved != nullptr && saved->recompute == Recompute::none;
  const bool keeps_some = saved != nullptr && saved->recompute == Recompute::selective;
  const bool keeps_projections = saved != nullptr && LayerActivations::keeps_projections(config_, saved->recompute);
  LayerActivations passing;
  if (!keeps_projections) passing.take_projections(memory, config_, dtype_, T);
  if (!keeps_all) passing.take_recomputed(memory, config_, dtype_, T);
  if (!keeps_all && !keeps_some) passing.take_kept(memory, config_, dtype_, T);
  for (size_t l = 0; l < layout_.layers.size(); ++l) {
    LayerActivations a = passing;
    if (keeps_projections) a.take_projections(memory, config_, dtype_, T);
    if (keeps_all) a.take_recomputed(memory, config_, dtype_, T);
    if (keeps_all || keeps_some) a.take_kept(memory, config_, dtype_, T);
    if (saved != nullptr) {
      a.input_TD = memory.take<float>(T, config_.hidden_size);
      kernels::convert(ctx, a.input_TD, h_TD);
      saved->layers.push_back(a);
    }
    attention_forward(ctx, l, batch, kv, cos_TR, sin_TR, h_TD, a);
    if (keeps_all || keeps_some) kernels::convert(ctx, a.middle_TD, h_TD);
    mlp_hidden(ctx, l, batch, h_TD, a);
    const LayerLayout& layer = layout_.layers[l];
    linear(ctx, h_TD, a.act_TF, layer.down, layer.down_bias, kernels::Store::add, batch);
  }

  const int64_t R = static_cast<int64_t>(batch.logit_rows.size());
  View<float> final_RD = memory.take<float>(R, config_.hidden_size);
  View<float> rrms_R = memory.take<float>(R);
  for (int64_t r = 0; r < R; ++r) {
    copy_rows(final_RD.slice_rows(r, 1), h_TD.slice_rows(batch.logit_rows[static_cast<size_t>(r)], 1));
  }
  kernels::rms_norm_forward(ctx, y_RD, rrms_R, final_RD, norm_weight(layout_.final_norm), config_.rms_norm_eps);
  if (saved != nullptr) {
    saved->cos_TR = cos_TR;
    saved->sin_TR = sin_TR;
    saved->final_RD = final_RD;
    saved->final_rrms_R = rrms_R;
  }
}

void Decoder::attention_forward(kernels::Context& ctx, size_t index, const ForwardBatch& batch, KvCache& kv,
                                View<const float> cos_TR, View<const float> sin_TR, View<float> h_TD,
                                const LayerActivations& a) const {
  const LayerLayout& layer = layout_.layers[index];
  const kernels::KvLayer& kv_layer = kv.layer(static_cast<int64_t>(index));
  const int64_t T = h_TD.rows, q_size = config_.q_size(), kv_size = config_.kv_size();
  const float eps = config_.rms_norm_eps;

  kernels::rms_norm_forward(ctx, a.a_TD, a.input_rrms_T, h_TD, norm_weight(layer.input_norm), eps);
  linear(ctx, a.qkv_TN, a.a_TD, layer.qkv, layer.qkv_bias, kernels::Store::overwrite, batch);
  queries(ctx, index, cos_TR, sin_TR, a);
  {
    Arena::Scope scope(ctx.scratch);
    ComputeView k_THC = ctx.scratch.take(dtype_, T, kv_size);
    kernels::head_norm_rope_forward(ctx, k_THC, a.k_rrms_TH, a.qkv_TN.slice_cols(q_size, kv_size),
                                    norm_weight(layer.k_norm), config_.num_kv_heads, cos_TR, sin_TR, eps);
    const ConstComputeView v_THC = as_product_input(ctx, dtype_, a.qkv_TN.slice_cols(q_size + kv_size, kv_size));
    kernels::kv_write(ctx, kv_layer, k_THC, v_THC, batch.slots);
    if (!batch.copied_rows.empty()) {
      kernels::kv_write(ctx, kv_layer, gather_rows(ctx, k_THC, batch.copied_rows),
                        gather_rows(ctx, v_THC, batch.copied_rows), batch.copied_slots);
    }
  }
  kernels::attention_forward(ctx, a.o_THC, a.lse_TH, a.q_THC, kv_layer, batch.sequences(), attention_scale());
  linear(ctx, h_TD, a.o_THC, layer.o, layer.o_bias, kernels::Store::add, batch);
}

void Decoder::queries(kernels::Context& ctx, size_t index, View<const float> cos_TR, View<const float> sin_TR,
                      const LayerActivations& a) const {
  kernels::head_norm_rope_forward(ctx, a.q_THC, a.q_rrms_TH, a.qkv_TN.slice_cols(0, config_.q_size()),
                                  norm_weight(layout_.layers[index].q_norm), config_.num_heads, cos_TR, sin_TR,
                                  config_.rms_norm_eps);
}

void Decoder::mlp_hidden(kernels::Context& ctx, size_t index, const ForwardBatch& batch, View<const float> h_TD,
                         const LayerActivations& a) const {
  const LayerLayout& layer = layout_.layers[index];
  kernels::rms_norm_forward(ctx, a.b_TD, a.middle_rrms_T, h_TD, norm_weight(layer.post_norm), config_.rms_norm_eps);
  linear(ctx, a.gate_up_T2F, a.b_TD, layer.gate_up, layer.gate_up_bias, kernels::Store::overwrite, batch);
  kernels::swiglu_forward(ctx, a.act_TF, a.gate_up_T2F);
}

void Decoder::recompute(kernels::Context& ctx, size_t index, const ForwardBatch& batch, KvCache& kv,
                        const Activations& saved) const {
  const LayerActivations& a = saved.layers[index];
  if (saved.recompute == Recompute::full) {
    kernels::convert(ctx, a.middle_TD, a.input_TD);
    attention_forward(ctx, index, batch, kv, saved.cos_TR, saved.sin_TR, a.middle_TD, a);
    mlp_hidden(ctx, index, batch, a.middle_TD, a);
    return;
  }
  if (saved.recompute == Recompute::none) return;
  const LayerLayout& layer = layout_.layers[index];
  const float eps = config_.rms_norm_eps;
  kernels::rms_norm_forward(ctx, a.a_TD, a.input_rrms_T, a.input_TD, norm_weight(layer.input_norm), eps);
  queries(ctx, index, saved.cos_TR, saved.sin_TR, a);
  kernels::rms_norm_forward(ctx, a.b_TD, a.middle_rrms_T, a.middle_TD, norm_weight(layer.post_norm), eps);
  kernels::swiglu_forward(ctx, a.act_TF, a.gate_up_T2F);
}

void Decoder::logits(kernels::Context& ctx, View<float> logits_RV, ConstComputeView y_RD) const {
  kernels::product(ctx, logits_RV, y_RD, head().forward(), kernels::Store::overwrite);
}

void Decoder::logits_backward(kernels::Context& ctx, View<float> dy_RD, ConstComputeView dlogits_RV,
                              ConstComputeView y_RD) {
  if (!has_transposed_head_) kernels::transpose(ctx, transposed_head_, head().forward());
  has_transposed_head_ = true;
  kernels::product(ctx, dy_RD, dlogits_RV, transposed_head_, kernels::Store::overwrite);
  if (head().trainable()) kernels::product_dw(ctx, head().gradient(), dlogits_RV, y_RD);
}

void Decoder::backward(kernels::Context& ctx, const ForwardBatch& batch, KvCache& kv, View<const float> dy_RD,
                       Activations& saved) {
  Arena::Scope scope(ctx.scratch);
  const int64_t T = batch.num_tokens(), R = dy_RD.rows;
  View<float> dh_TD = ctx.scratch.take<float>(T, config_.hidden_size);
  std::memset(dh_TD.data, 0, static_cast<size_t>(dh_TD.size()) * sizeof(float));
  {
    // final norm: its input is a gathered copy of rows, so its gradient is added where they came from
    Arena::Scope inner(ctx.scratch);
    View<float> dfinal_RD = ctx.scratch.take<float>(R, config_.hidden_size);
    std::memset(dfinal_RD.data, 0, static_cast<size_t>(dfinal_RD.size()) * sizeof(float));
    kernels::rms_norm_backward(ctx, dfinal_RD, norm_gradient(ctx, layout_.final_norm), dy_RD, dfinal_RD, saved.final_RD,
                               norm_weight(layout_.final_norm), saved.final_rrms_R);
    for (int64_t r = 0; r < R; ++r) {
      float* dh = dh_TD.row(batch.logit_rows[static_cast<size_t>(r)]);
      for (int64_t d = 0; d < dh_TD.cols; ++d) dh[d] += dfinal_RD(r, d);
    }
  }
  for (size_t l = layout_.layers.size(); l-- > 0;) {
    recompute(ctx, l, batch, kv, saved);
    layer_backward(ctx, l, batch, kv, saved, dh_TD);
  }
  if (!at(layout_.embedding).trainable()) return;
  kernels::embedding_backward(ctx, at(layout_.embedding).gradient(), batch.ids, dh_TD, config_.pad_token_id);
}

// dh is the gradient of the residual stream after the layer, turned in place into that before it.
void Decoder::layer_backward(kernels::Context& ctx, size_t index, const ForwardBatch& batch, const KvCache& kv,
                             const Activations& saved, View<float> dh_TD) {
  const LayerLayout& layer = layout_.layers[index];
  const LayerActivations& a = saved.layers[index];
  const int64_t T = dh_TD.rows, q_size = config_.q_size(), kv_size = config_.kv_size();
  {
    // h += down(act);  act = swiglu(gate_up(b));  b = norm(h)
    Arena::Scope scope(ctx.scratch);
    ConstComputeView dy_TD = as_product_input(ctx, dtype_, dh_TD);
    View<float> dact_TF = ctx.scratch.take<float>(T, config_.intermediate_size);
    linear_backward(ctx, dact_TF, dy_TD, a.act_TF, layer.down, layer.down_bias);
    ComputeView dgate_up_T2F = ctx.scratch.take(dtype_, T, 2 * config_.intermediate_size);
    kernels::swiglu_backward(ctx, dgate_up_T2F, dact_TF, a.gate_up_T2F);
    View<float> db_TD = ctx.scratch.take<float>(T, config_.hidden_size);
    linear_backward(ctx, db_TD, dgate_up_T2F, a.b_TD, layer.gate_up, layer.gate_up_bias);
    kernels::rms_norm_backward(ctx, dh_TD, norm_gradient(ctx, layer.post_norm), db_TD, dh_TD, a.middle_TD,
                               norm_weight(layer.post_norm), a.middle_rrms_T);
  }
  {
    // h += o(attention(rope(norm(q)), rope(norm(k)), v));  q, k, v = qkv(a);  a = norm(h)
    Arena::Scope scope(ctx.scratch);
    ConstComputeView dy_TD = as_product_input(ctx, dtype_, dh_TD);
    View<float> do_THC = ctx.scratch.take<float>(T, q_size);
    linear_backward(ctx, do_THC, dy_TD, a.o_THC, layer.o, layer.o_bias);
    View<float> dq_THC = ctx.scratch.take<float>(T, q_size);
    View<float> dk_THC = ctx.scratch.take<float>(T, kv_size);
    View<float> dv_THC = ctx.scratch.take<float>(T, kv_size);
    kernels::attention_backward(ctx, dq_THC, dk_THC, dv_THC, do_THC, a.o_THC, a.q_THC,
                                kv.layer(static_cast<int64_t>(index)), a.lse_TH, batch.sequences(), attention_scale());
    ComputeView dqkv_TN = ctx.scratch.take(dtype_, T, q_size + 2 * kv_size);
    kernels::head_norm_rope_backward(ctx, dqkv_TN.slice_cols(0, q_size), norm_gradient(ctx, layer.q_norm), dq_THC,
                                     a.qkv_TN.slice_cols(0, q_size), norm_weight(layer.q_norm), config_.num_heads,
                                     saved.cos_TR, saved.sin_TR, a.q_rrms_TH);
    kernels::head_norm_rope_backward(ctx, dqkv_TN.slice_cols(q_size, kv_size), norm_gradient(ctx, layer.k_norm), dk_THC,
                                     a.qkv_TN.slice_cols(q_size, kv_size), norm_weight(layer.k_norm),
                                     config_.num_kv_heads, saved.cos_TR, saved.sin_TR, a.k_rrms_TH);
    kernels::convert(ctx, dqkv_TN.slice_cols(q_size + kv_size, kv_size), dv_THC);
    View<float> da_TD = ctx.scratch.take<float>(T, config_.hidden_size);
    linear_backward(ctx, da_TD, dqkv_TN, a.a_TD, layer.qkv, layer.qkv_bias);
    kernels::rms_norm_backward(ctx, dh_TD, norm_gradient(ctx, layer.input_norm), da_TD, dh_TD, a.input_TD,
                               norm_weight(layer.input_norm), a.input_rrms_T);
  }
}

void Decoder::linear(kernels::Context& ctx, View<float> y_TN, ConstComputeView x_TK, size_t weight,
                     std::optional<size_t> bias, kernels::Store store, const ForwardBatch& batch) const {
  kernels::product(ctx, y_TN, x_TK, at(weight).forward(), store);
  if (bias) kernels::bias_forward(ctx, y_TN, at(*bias).vector());
  if (lora_.rank == 0 || batch.without_adapters) return;
  for (const LoraPiece& piece : lora_layout_.pieces[weight]) {
    Arena::Scope scope(ctx.scratch);
    const ConstComputeView z_TR = narrowed(ctx, x_TK, adapters_[piece.a].forward());
    kernels::product(ctx, y_TN.slice_cols(piece.row, piece.rows), z_TR, adapters_[piece.b].forward(),
                     kernels::Store::add);
  }
}

// y = W x + b;  z = scale A x;  y += B z
void Decoder::linear_backward(kernels::Context& ctx, View<float> dx_TK, ConstComputeView dy_TN, ConstComputeView x_TK,
                              size_t weight, std::optional<size_t> bias) {
  kernels::transpose(ctx, transposed_, at(weight).forward());
  kernels::product(ctx, dx_TK, dy_TN, transposed_, kernels::Store::overwrite);
  if (at(weight).trainable()) kernels::product_dw(ctx, at(weight).gradient(), dy_TN, x_TK);
  if (bias && at(*bias).trainable()) kernels::bias_backward(ctx, at(*bias).gradient(), dy_TN);
  if (lora_.rank == 0) return;
  for (const LoraPiece& piece : lora_layout_.pieces[weight]) {
    Arena::Scope scope(ctx.scratch);
    Parameter &a = adapters_[piece.a], &b = adapters_[piece.b];
    const ConstComputeView dy = dy_TN.slice_cols(piece.row, piece.rows);
    kernels::product_dw(ctx, b.gradient(), dy, narrowed(ctx, x_TK, a.forward()));
    kernels::transpose(ctx, transposed_, b.forward());
    const ConstComputeView dz_TR = narrowed(ctx, dy, transposed_);
    kernels::product_dw(ctx, a.gradient(), dz_TR, x_TK);
    kernels::transpose(ctx, transposed_, a.forward());
    kernels::product(ctx, dx_TK, dz_TR, transposed_, kernels::Store::add);
  }
}

ConstComputeView Decoder::narrowed(kernels::Context& ctx, ConstComputeView x_TK, const kernels::PackedMatrix& a) const {
  const View<float> z_TR = ctx.scratch.take<float>(x_TK.rows, a.columns);
  kernels::product(ctx, z_TR, x_TK, a, kernels::Store::overwrite);
  const float scale = lora_.scale();
  for (int64_t i = 0; i < z_TR.size(); ++i) z_TR[i] *= scale;
  return as_product_input(ctx, dtype_, z_TR);
}

float Decoder::attention_scale() const { return 1.0f / std::sqrt(static_cast<float>(config_.head_dim)); }

View<const float> Decoder::norm_weight(std::optional<size_t> index) const {
  return index ? norm_weight(*index) : View<const float>();
}

View<float> Decoder::norm_gradient(kernels::Context& ctx, size_t index) {
  if (at(index).trainable()) return at(index).gradient();
  const View<float> ignored = ctx.scratch.take<float>(at(index).size());
  std::fill_n(ignored.data, ignored.size(), 0.0f);
  return ignored;
}

View<float> Decoder::norm_gradient(kernels::Context& ctx, std::optional<size_t> index) {
  return index ? norm_gradient(ctx, *index) : View<float>();
}

}  // namespace hone
