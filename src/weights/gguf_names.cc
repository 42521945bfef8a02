#include "weights/gguf_names.h"

#include <span>
#include <string_view>
#include <utility>

namespace hone::weights {

namespace {

using NamePair = std::pair<std::string_view, std::string_view>;  // of a GGUF file, of Hugging Face

constexpr NamePair kOfModel[] = {
    {"token_embd.", "model.embed_tokens."}, {"output_norm.", "model.norm."}, {"output.", "lm_head."}};
constexpr NamePair kOfLayer[] = {{"attn_norm.", "input_layernorm."},    {"attn_q.", "self_attn.q_proj."},
                                 {"attn_k.", "self_attn.k_proj."},      {"attn_v.", "self_attn.v_proj."},
                                 {"attn_output.", "self_attn.o_proj."}, {"attn_q_norm.", "self_attn.q_norm."},
                                 {"attn_k_norm.", "self_attn.k_norm."}, {"ffn_norm.", "post_attention_layernorm."},
                                 {"ffn_gate.", "mlp.gate_proj."},       {"ffn_up.", "mlp.up_proj."},
                                 {"ffn_down.", "mlp.down_proj."}};
constexpr NamePair kLayerFronts = {"blk.", "model.layers."};

std::string_view one_side(const NamePair& pair, bool hf) { return hf ? pair.second : pair.first; }

std::optional<std::string> renamed(std::span<const NamePair> table, std::string_view name, bool to_hf) {
  for (const NamePair& pair : table) {
    const std::string_view from = one_side(pair, !to_hf);
    if (name.starts_with(from)) return std::string(one_side(pair, to_hf)).append(name.substr(from.size()));
  }
  return std::nullopt;
}

std::optional<std::string> renamed(std::string_view name, bool to_hf) {
  if (auto of_model = renamed(kOfModel, name, to_hf)) return of_model;
  const std::string_view front = one_side(kLayerFronts, !to_hf);
  const size_t dot = name.find('.', front.size());
  if (!name.starts_with(front) || dot == std::string_view::npos) return std::nullopt;
  const auto rest = renamed(kOfLayer, name.substr(dot + 1), to_hf);
  if (!rest) return std::nullopt;
  return std::string(one_side(kLayerFronts, to_hf)).append(name.substr(front.size(), dot + 1 - front.size())) + *rest;
}

}  // namespace

std::optional<std::string> hf_tensor_name(const std::string& gguf) { return renamed(gguf, true); }
std::optional<std::string> gguf_tensor_name(const std::string& hf) { return renamed(hf, false); }

int64_t paired_head_dim(const ModelConfig& config, const std::string& hf_name) {
  const bool rotated =
      hf_name.find("self_attn.q_proj.") != std::string::npos || hf_name.find("self_attn.k_proj.") != std::string::npos;
  return config.family == Family::llama && rotated ? config.head_dim : 0;
}

int64_t gguf_row(int64_t hf_row, int64_t head_dim) {
  if (head_dim == 0) return hf_row;
  const int64_t in_head = hf_row % head_dim, half = head_dim / 2;
  return hf_row - in_head + 2 * (in_head % half) + in_head / half;
}

int64_t hf_row(int64_t gguf_row, int64_t head_dim) {
  if (head_dim == 0) return gguf_row;
  const int64_t in_head = gguf_row % head_dim;
  return gguf_row - in_head + in_head % 2 * (head_dim / 2) + in_head / 2;
}

}  // namespace hone::weights
