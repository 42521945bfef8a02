#include "bench/model_shapes.h"

#include <algorithm>
#include <iterator>

#include "bench/filler.h"
#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "models/layout.h"
#include "weights/hf_config.h"

namespace hone::bench {

namespace {

constexpr ModelShape kShapes[] = {
    {"smollm2-135m", R"({
  "architectures": ["LlamaForCausalLM"], "vocab_size": 49152, "hidden_size": 576, "intermediate_size": 1536,
  "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3, "max_position_embeddings": 8192,
  "rms_norm_eps": 1e-5, "rope_theta": 100000, "tie_word_embeddings": true, "torch_dtype": "bfloat16"})"},
    {"qwen2.5-0.5b", R"({
  "architectures": ["Qwen2ForCausalLM"], "vocab_size": 151936, "hidden_size": 896, "intermediate_size": 4864,
  "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2, "max_position_embeddings": 32768,
  "rms_norm_eps": 1e-6, "rope_theta": 1000000, "tie_word_embeddings": true, "torch_dtype": "bfloat16"})"},
    {"qwen3-0.6b", R"({
  "architectures": ["Qwen3ForCausalLM"], "vocab_size": 151936, "hidden_size": 1024, "intermediate_size": 3072,
  "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
  "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1000000, "tie_word_embeddings": true,
  "torch_dtype": "bfloat16"})"},
    {"llama-3.2-1b", R"({
  "architectures": ["LlamaForCausalLM"], "vocab_size": 128256, "hidden_size": 2048, "intermediate_size": 8192,
  "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
  "max_position_embeddings": 131072, "rms_norm_eps": 1e-5, "rope_theta": 500000, "tie_word_embeddings": true,
  "rope_scaling": {"rope_type": "llama3", "factor": 32, "low_freq_factor": 1, "high_freq_factor": 4,
                   "original_max_position_embeddings": 8192}, "torch_dtype": "bfloat16"})"},
};

// Between -0.04 and 0.04, a function of the place.
void dummy_values(int64_t begin, int64_t size, float* out) {
  for (int64_t i = 0; i < size; ++i) out[i] = filler(static_cast<uint64_t>(begin + i)) * 0x1.4p-6f;
}

}  // namespace

ModelConfig ModelShape::config() const { return weights::parse_config(io::parse_json(config_json, name), name); }

std::vector<ModelShape> chosen_shapes(const std::vector<std::string>& names) {
  if (names.empty()) return {std::begin(kShapes), std::end(kShapes)};
  std::vector<ModelShape> chosen;
  for (const std::string& name : names) {
    const auto* const found = std::find_if(std::begin(kShapes), std::end(kShapes),
                                           [&](const ModelShape& shape) { return shape.name == name; });
    if (found == std::end(kShapes)) {
      throw Error(fmt::format("--families: '{}' is not known", name),
                  "smollm2-135m, qwen2.5-0.5b, qwen3-0.6b or llama-3.2-1b");
    }
    chosen.push_back(*found);
  }
  return chosen;
}

void write_dummy_model(const std::string& folder, const ModelShape& shape) {
  io::write_file(io::join_path(folder, "config.json"), shape.config_json);
  io::SafetensorsWriter writer;
  const ModelLayout layout(shape.config());
  for (const ParameterSpec& spec : layout.parameters) {
    for (const Piece& piece : spec.pieces) {
      writer.add(piece.name, spec.shape(piece), io::StoredType::bf16, dummy_values);
    }
  }
  writer.write(io::join_path(folder, "model.safetensors"));
}

}  // namespace hone::bench
