// What a decoder takes: its weights, and what a token of a batch takes in each of its passes.
#include <algorithm>

#include "kernels/attention.h"
#include "models/activations.h"
#include "models/decoder.h"

namespace hone {

namespace {
constexpr int64_t kFloat = sizeof(float);

// The rotary tables and the residual stream before the final norm.
int64_t ends_bytes(const ModelConfig& c) { return kFloat * (c.head_dim + c.hidden_size + 1); }
}  // namespace

double Decoder::weight_bytes(const ModelConfig& c, DType dtype, DecoderUse use) {
  const double table = static_cast<double>(c.vocab_size) * static_cast<double>(c.hidden_size);
  const double others = static_cast<double>(c.num_parameters()) - table;
  return others * static_cast<double>(use == DecoderUse::train ? 4 : size_bytes(dtype)) + 4 * table;
}

double Decoder::transposed_bytes(const ModelConfig& c, DType dtype) {
  const int64_t widest = std::max(c.q_size() + 2 * c.kv_size(), 2 * c.intermediate_size);
  return static_cast<double>(c.hidden_size) * static_cast<double>(c.num_outputs() + widest) *
         static_cast<double>(size_bytes(dtype));
}

int64_t Decoder::activation_bytes_per_token(const ModelConfig& c, DType dtype, Recompute recompute) {
  const int64_t input = kFloat * c.hidden_size;
  const int64_t kept = LayerActivations::kept_bytes(c, dtype), again = LayerActivations::recomputed_bytes(c, dtype);
  const int64_t projections = LayerActivations::projection_bytes(c, dtype);
  const auto times = [&](bool all_layers) { return all_layers ? c.num_layers : 1; };
  return ends_bytes(c) + c.num_layers * input + times(LayerActivations::keeps_projections(c, recompute)) * projections +
         times(recompute != Recompute::full) * kept + times(recompute == Recompute::none) * again;
}

int64_t Decoder::bytes_taken(const Activations& activations) { return activations.memory.peak_bytes(); }

int64_t Decoder::stream_bytes_per_token(const ModelConfig& c, DType dtype) {
  const int64_t keys_and_values = (dtype == DType::f32 ? 1 : 2) * c.kv_size() * size_bytes(dtype);
  return kFloat * c.hidden_size + keys_and_values;
}

int64_t Decoder::passing_bytes_per_token(const ModelConfig& c, DType dtype) {
  return activation_bytes_per_token(c, dtype, Recompute::full) - c.num_layers * kFloat * c.hidden_size +
         stream_bytes_per_token(c, dtype);
}

double Decoder::backward_bytes(const ModelConfig& c, DType dtype, double tokens, bool share_prompts) {
  const int64_t element = size_bytes(dtype), residual = kFloat * c.hidden_size;
  const int64_t qkv = c.q_size() + 2 * c.kv_size();
  const auto of_product = [&](int64_t outputs) {
    const auto T = static_cast<int64_t>(std::min(tokens, 1e9));
    return static_cast<double>(
        kernels::product_dw_scratch_bytes(kernels::cpu::default_target(), dtype, T, outputs, c.hidden_size));
  };
  const auto of_tokens = [&](auto bytes) { return tokens * static_cast<double>(bytes); };
  const int64_t gate_up = kFloat * c.intermediate_size + element * 2 * c.intermediate_size + residual;
  const double mlp = of_tokens(gate_up) + of_product(2 * c.intermediate_size);
  const double scratch = kernels::attention_backward_scratch_bytes(c.num_kv_heads, c.head_dim, share_prompts);
  const double projections = of_tokens(element * qkv + residual) + of_product(qkv);
  const double attention = of_tokens(kFloat * (c.q_size() + qkv)) + std::max(of_tokens(scratch), projections);
  const int64_t rounded = dtype == DType::f32 ? 0 : element * c.hidden_size;
  return of_tokens(residual + rounded) + std::max(mlp, attention);
}

double Decoder::head_backward_bytes(const ModelConfig& c, DType dtype, double logits_bytes) {
  const auto rows = static_cast<int64_t>(logits_bytes / static_cast<double>(kFloat * c.num_outputs()));
  return static_cast<double>(
      kernels::product_dw_scratch_bytes(kernels::cpu::default_target(), dtype, rows, c.num_outputs(), c.hidden_size));
}

}  // namespace hone
