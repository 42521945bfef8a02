// What a GGUF file calls the tensors of a dense decoder, and the order in which it holds their rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/model_config.h"

namespace hone::weights {

constexpr const char* kRopeFactors = "rope_freqs.weight";  // divisors of frequencies: no tensor of a checkpoint

// "blk.3.attn_q.weight" <-> "model.layers.3.self_attn.q_proj.weight"; nothing for another tensor.
std::optional<std::string> hf_tensor_name(const std::string& gguf);
std::optional<std::string> gguf_tensor_name(const std::string& hf);

// `llama` files hold the two halves of a rotary pair side by side: of a head of D rows, row 2 i + s is row s D / 2 + i
// of Hugging Face's, in weights and biases of queries and keys. Where a tensor has another order, D; else 0.
int64_t paired_head_dim(const ModelConfig& config, const std::string& hf_name);
int64_t gguf_row(int64_t hf_row, int64_t head_dim);
int64_t hf_row(int64_t gguf_row, int64_t head_dim);

}  // namespace hone::weights
