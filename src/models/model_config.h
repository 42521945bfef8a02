// ModelConfig: the sizes and constants of a dense model of the Llama, Qwen2 or Qwen3 family. weights/hf_config.h reads
// it from a config.json. The families differ in what stands here alone: biases, norms of the heads, rotary scaling.
#pragma once

#include <cstdint>

namespace hone {

enum class Family { llama, qwen2, qwen3 };
const char* name(Family family);  // as model_type in config.json: "qwen2"

// How the rotary frequencies of a context are stretched beyond that of pretraining. Fields beyond a form's own are not
// read.
struct RopeScaling {
  enum class Form { none, linear, llama3, yarn };
  Form form = Form::none;
  double factor = 1.0;
  double original_length = 0.0;                          // llama3, yarn: context of pretraining, in tokens
  double low_freq_factor = 1.0, high_freq_factor = 4.0;  // llama3
  double beta_fast = 32.0, beta_slow = 1.0;              // yarn
  double attention_factor = 1.0;                         // yarn: multiplies cos and sin
  bool truncate = true;                                  // yarn: whole bounds of the ramp
  bool operator==(const RopeScaling&) const = default;
};

struct ModelConfig {
  Family family = Family::qwen3;
  int64_t vocab_size = 0;  // rows of the embedding table
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t num_layers = 0;
  int64_t num_heads = 0;
  int64_t num_kv_heads = 0;
  int64_t head_dim = 0;
  int64_t max_position_embeddings = 0;  // tokens of the longest context
  float rms_norm_eps = 1e-6f;
  float rope_theta = 10000.0f;
  RopeScaling rope_scaling;
  float initializer_range = 0.02f;
  bool tie_word_embeddings = false;
  bool qk_norm = true;        // RMSNorm of every query and key head before the rotation
  bool qkv_bias = false;      // biases of the query, key and value projections
  bool o_bias = false;        // of the attention output
  bool mlp_bias = false;      // of gate, up and down
  bool value_head = false;    // in place of the language model's: one output, a critic's value (no key of config.json)
  int64_t pad_token_id = -1;  // its row of the table gets no gradient from the look-up; -1: none

  int64_t q_size() const { return num_heads * head_dim; }
  int64_t kv_size() const { return num_kv_heads * head_dim; }
  int64_t num_outputs() const { return value_head ? 1 : vocab_size; }  // of the head
  int64_t num_parameters() const;
  bool operator==(const ModelConfig&) const = default;
};

}  // namespace hone
