#include "models/layout.h"

#include <utility>

namespace hone {

namespace {

struct Rows {
  std::string name;
  int64_t rows = 0;
};

// The named tensors one below the other.
std::vector<Piece> stack(std::vector<Rows> parts) {
  std::vector<Piece> pieces;
  int64_t row = 0;
  for (Rows& part : parts) {
    pieces.push_back({std::move(part.name), row, part.rows});
    row += part.rows;
  }
  return pieces;
}

ParameterSpec matrix(std::vector<Rows> parts, int64_t cols, bool packed = true) {
  return {stack(std::move(parts)), cols, ParameterKind::matrix, packed};
}
ParameterSpec norm(const std::string& name, int64_t size) { return {{{name, 0, 1}}, size, ParameterKind::norm, false}; }
ParameterSpec bias(std::vector<Rows> parts) { return {stack(std::move(parts)), 1, ParameterKind::bias, false}; }

}  // namespace

ModelLayout::ModelLayout(const ModelConfig& c) {
  const bool is_tied = c.tie_word_embeddings && !c.value_head;
  embedding = add(matrix({{"model.embed_tokens.weight", c.vocab_size}}, c.hidden_size, is_tied));
  for (int64_t l = 0; l < c.num_layers; ++l) add_layer(c, l);
  final_norm = add(norm("model.norm.weight", c.hidden_size));
  head =
      is_tied ? embedding : add(matrix({{c.value_head ? kValueHead : kLanguageHead, c.num_outputs()}}, c.hidden_size));
}

void ModelLayout::add_layer(const ModelConfig& c, int64_t index) {
  const std::string p = fmt::format("model.layers.{}.", index);
  const std::string a = p + "self_attn.", m = p + "mlp.";
  const int64_t q = c.q_size(), kv = c.kv_size(), f = c.intermediate_size, d = c.hidden_size;
  LayerLayout layer;
  layer.input_norm = add(norm(p + "input_layernorm.weight", d));
  layer.qkv = add(matrix({{a + "q_proj.weight", q}, {a + "k_proj.weight", kv}, {a + "v_proj.weight", kv}}, d));
  if (c.qkv_bias) {
    layer.qkv_bias = add(bias({{a + "q_proj.bias", q}, {a + "k_proj.bias", kv}, {a + "v_proj.bias", kv}}));
  }
  if (c.qk_norm) {
    layer.q_norm = add(norm(a + "q_norm.weight", c.head_dim));
    layer.k_norm = add(norm(a + "k_norm.weight", c.head_dim));
  }
  layer.o = add(matrix({{a + "o_proj.weight", d}}, q));
  if (c.o_bias) layer.o_bias = add(bias({{a + "o_proj.bias", d}}));
  layer.post_norm = add(norm(p + "post_attention_layernorm.weight", d));
  layer.gate_up = add(matrix({{m + "gate_proj.weight", f}, {m + "up_proj.weight", f}}, d));
  if (c.mlp_bias) layer.gate_up_bias = add(bias({{m + "gate_proj.bias", f}, {m + "up_proj.bias", f}}));
  layer.down = add(matrix({{m + "down_proj.weight", d}}, f));
  if (c.mlp_bias) layer.down_bias = add(bias({{m + "down_proj.bias", d}}));
  layers.push_back(layer);
}

size_t ModelLayout::add(ParameterSpec spec) {
  parameters.push_back(std::move(spec));
  return parameters.size() - 1;
}

}  // namespace hone
