#include "weights/unexpected_tensor.h"

#include <charconv>

#include "core/error.h"

namespace hone::weights {

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// The N of model.layers.N., or -1.
int64_t layer_of(const std::string& tensor) {
  constexpr std::string_view kPrefix = "model.layers.";
  int64_t layer = -1;
  if (tensor.starts_with(kPrefix)) {
    std::from_chars(tensor.data() + kPrefix.size(), tensor.data() + tensor.size(), layer);
  }
  return layer;
}

}  // namespace

bool is_ignored(const std::string& tensor) { return tensor.ends_with("rotary_emb.inv_freq"); }

std::string why_unexpected(const std::string& tensor, const ModelConfig& config) {
  const char* family = name(config.family);
  if (const int64_t layer = layer_of(tensor); layer >= config.num_layers) {
    return fmt::format("num_hidden_layers is {}", config.num_layers);
  }
  if (has(tensor, "lora_") || tensor.starts_with("base_model.")) return "adapter weights have to be merged first";
  for (const char* part : {".qweight", ".qzeros", ".scales", ".g_idx", "_scale_inv", ".weight_scale"}) {
    if (has(tensor, part)) return "quantized weights are not read";
  }
  if (tensor == "score.weight") return "the head of a classifier; a language model has lm_head.weight";
  if (tensor.starts_with("layers.") || tensor == "embed_tokens.weight" || tensor == "norm.weight") {
    return "names begin with model. in the checkpoint of a language model";
  }
  if (has(tensor, "_norm.weight") && has(tensor, "self_attn.")) return fmt::format("{} has no norms of heads", family);
  if (has(tensor, "self_attn.") && tensor.ends_with(".bias")) {
    return config.family == Family::qwen2 ? "qwen2 has biases of q, k and v alone" : "attention_bias is false";
  }
  if (has(tensor, "mlp.") && tensor.ends_with(".bias")) {
    return config.family == Family::llama ? "mlp_bias is false" : fmt::format("{} has no biases there", family);
  }
  if (has(tensor, "mlp.experts.") || tensor.ends_with("mlp.gate.weight")) {
    return "a mixture of experts, which is another architecture";
  }
  if (has(tensor, "visual.") || has(tensor, "vision")) return "part of a vision model";
  return fmt::format("it is not part of a {} model", family);
}

std::string why_missing(const std::string& tensor) {
  if (tensor == kLanguageHead) return " (tie_word_embeddings is false, so the head has to be there)";
  return "";
}

}  // namespace hone::weights
