#include "bench/model_shapes.h"

#include <algorithm>

#include "bench/bench_model.h"
#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "models/layout.h"
#include "weights/hf_config.h"

namespace hone::bench {

namespace {

ModelConfig smollm2_135m() {
  ModelConfig c = bench_model();
  c.family = Family::llama;
  c.qk_norm = false;
  return c;
}

ModelConfig qwen25_05b() {
  ModelConfig c;
  c.family = Family::qwen2;
  c.vocab_size = 151936;
  c.hidden_size = 896;
  c.intermediate_size = 4864;
  c.num_layers = 24;
  c.num_heads = 14;
  c.num_kv_heads = 2;
  c.head_dim = 64;
  c.max_position_embeddings = 32768;
  c.rope_theta = 1e6f;
  c.tie_word_embeddings = true;
  c.qk_norm = false;
  c.qkv_bias = true;
  return c;
}

ModelConfig qwen3_06b() {
  ModelConfig c;
  c.vocab_size = 151936;
  c.hidden_size = 1024;
  c.intermediate_size = 3072;
  c.num_layers = 28;
  c.num_heads = 16;
  c.num_kv_heads = 8;
  c.head_dim = 128;
  c.max_position_embeddings = 40960;
  c.rope_theta = 1e6f;
  c.tie_word_embeddings = true;
  return c;
}

ModelConfig llama32_1b() {
  ModelConfig c;
  c.family = Family::llama;
  c.vocab_size = 128256;
  c.hidden_size = 2048;
  c.intermediate_size = 8192;
  c.num_layers = 16;
  c.num_heads = 32;
  c.num_kv_heads = 8;
  c.head_dim = 64;
  c.max_position_embeddings = 131072;
  c.rope_theta = 5e5f;
  c.rms_norm_eps = 1e-5f;
  c.tie_word_embeddings = true;
  c.qk_norm = false;
  c.rope_scaling = {.form = RopeScaling::Form::llama3, .factor = 32, .original_length = 8192};
  return c;
}

// Between -0.04 and 0.04, a function of the place.
void dummy_values(int64_t begin, int64_t size, float* out) {
  for (int64_t i = 0; i < size; ++i) {
    const uint64_t bits = (static_cast<uint64_t>(begin + i) + 1) * 0x9e3779b97f4a7c15u;
    out[i] = static_cast<float>(static_cast<int32_t>(bits >> 32)) * 0x1.4p-36f;
  }
}

}  // namespace

std::vector<ModelShape> chosen_shapes(const std::vector<std::string>& names) {
  const std::vector<ModelShape> all = {{"smollm2-135m", smollm2_135m()},
                                       {"qwen2.5-0.5b", qwen25_05b()},
                                       {"qwen3-0.6b", qwen3_06b()},
                                       {"llama-3.2-1b", llama32_1b()}};
  if (names.empty()) return all;
  std::vector<ModelShape> chosen;
  for (const std::string& name : names) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const ModelShape& shape) { return shape.name == name; });
    if (found == all.end()) {
      throw Error(fmt::format("--families: '{}' is not known", name),
                  "smollm2-135m, qwen2.5-0.5b, qwen3-0.6b or llama-3.2-1b");
    }
    chosen.push_back(*found);
  }
  return chosen;
}

void write_dummy_model(const std::string& folder, const ModelConfig& config) {
  io::write_file(io::join_path(folder, "config.json"), weights::config_text(config, ""));
  io::SafetensorsWriter writer;
  const ModelLayout layout(config);
  for (const ParameterSpec& spec : layout.parameters) {
    for (const Piece& piece : spec.pieces) {
      writer.add(piece.name, spec.shape(piece), io::StoredType::bf16, dummy_values);
    }
  }
  writer.write(io::join_path(folder, "model.safetensors"));
}

}  // namespace hone::bench
