// A tiny random model, Qwen3 unless a test says otherwise, in memory or as a folder with the character tokenizer of
// hone/arithmetic.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "io/atomic_file.h"
#include "io/file.h"
#include "models/decoder.h"
#include "models/tiny_config.h"
#include "prompts/arithmetic_task.h"
#include "weights/hf_folder.h"

namespace hone::test {

inline ModelConfig tiny_config() {
  ModelConfig config = tiny_model_config(16, 8);  // 14 ids are known to the tokenizer
  config.max_position_embeddings = 128;
  return config;
}
constexpr int64_t kTinyValidVocab = 14;

// The tiny model in every family, with the biases that each may have and a scaled rotation.
inline std::vector<std::pair<std::string, ModelConfig>> tiny_families() {
  using Form = RopeScaling::Form;
  ModelConfig qwen3 = tiny_config(), qwen2 = tiny_config(), llama = tiny_config();
  qwen3.qkv_bias = qwen3.o_bias = true;
  qwen3.rope_scaling = {.form = Form::linear, .factor = 2.0};
  qwen2.family = Family::qwen2;
  qwen2.qk_norm = false;
  qwen2.qkv_bias = true;
  qwen2.rope_scaling = {.form = Form::yarn, .factor = 4.0, .original_length = 32.0};
  qwen2.rope_scaling.attention_factor = 1.2;
  llama.family = Family::llama;
  llama.tie_word_embeddings = false;
  llama.qk_norm = false;
  llama.qkv_bias = llama.o_bias = llama.mlp_bias = true;
  llama.rope_scaling = {.form = Form::llama3, .factor = 8.0, .original_length = 512.0};
  return {{"qwen3", qwen3}, {"qwen2", qwen2}, {"llama", llama}};
}

// Norm weights beside 1 and biases beside 0, so that they matter.
inline void randomize_norms(Decoder& decoder, uint64_t seed) {
  for (size_t p = 0; p < decoder.parameters().size(); ++p) {
    Parameter& parameter = decoder.parameters()[p];
    if (parameter.kind() == ParameterKind::matrix) continue;
    const float mean = parameter.kind() == ParameterKind::norm ? 1.0f : 0.0f;
    for (int64_t i = 0; i < parameter.size(); ++i) {
      parameter.set(i, mean + 0.3f * random_normal({seed, Stream::test}, p, 0, static_cast<uint32_t>(i)));
    }
  }
}

// Of all linear layers.
inline LoraConfig tiny_lora(int64_t rank) {
  LoraConfig lora{rank, 1.5 * static_cast<double>(rank), {}};
  set_modules(lora, {"all-linear"}, {});
  return lora;
}

// Adapters of a size that matters; nothing where there are none.
inline void randomize_adapters(Decoder& decoder, uint64_t seed, float size = 0.3f) {
  kernels::Context ctx(1);
  for (size_t p = 0; p < decoder.adapters().size(); ++p) {
    Parameter& parameter = decoder.adapters()[p];
    parameter.fill(ctx, [&](int64_t first_row, int64_t rows, float* out) {
      for (int64_t i = 0; i < rows * parameter.cols(); ++i) {
        const auto at = static_cast<uint32_t>(first_row * parameter.cols() + i);
        out[i] = size * random_normal({seed, Stream::test}, 1000 + p, 0, at);
      }
    });
  }
}

// config.json, tokenizer.json and end id; with weights unless seed is 0.
inline void write_tiny_model(const std::string& folder, uint64_t seed, const ModelConfig& config = tiny_config()) {
  io::make_folders(folder);
  write_arithmetic_tokenizer(folder);
  io::write_file(folder + "/generation_config.json", "{\"eos_token_id\": 13}\n");
  Decoder decoder(config, DType::f32);
  decoder.initialize(seed);
  randomize_norms(decoder, seed);
  weights::save_model(decoder, folder, "");
}

// A folder of this process that is removed with the object.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name)
      : path_((std::filesystem::temp_directory_path() / ("hone-" + name + "-" + std::to_string(::getpid()))).string()) {
    std::filesystem::remove_all(path_);
    io::make_folders(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return io::join_path(path_, name); }

 private:
  std::string path_;
};

}  // namespace hone::test
