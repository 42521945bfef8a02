// The writer of config.json.
#include "core/error.h"
#include "io/file.h"
#include "io/json.h"
#include "weights/families.h"
#include "weights/hf_config.h"

namespace hone::weights {

namespace {

io::Json rope_json(const RopeScaling& s) {
  io::Json json;
  switch (s.form) {
    case RopeScaling::Form::none:
      return json;
    case RopeScaling::Form::linear:
      json.set("rope_type", "linear");
      break;
    case RopeScaling::Form::llama3:
      json.set("rope_type", "llama3");
      break;
    case RopeScaling::Form::yarn:
      json.set("rope_type", "yarn");
      break;
  }
  json.set("factor", s.factor);
  if (s.form == RopeScaling::Form::llama3) {
    json.set("low_freq_factor", s.low_freq_factor);
    json.set("high_freq_factor", s.high_freq_factor);
  }
  if (s.form == RopeScaling::Form::yarn) {
    json.set("beta_fast", s.beta_fast);
    json.set("beta_slow", s.beta_slow);
    json.set("attention_factor", s.attention_factor);
    json.set("truncate", s.truncate);
  }
  if (s.form != RopeScaling::Form::linear) {
    json.set("original_max_position_embeddings", static_cast<int64_t>(s.original_length));
  }
  return json;
}

io::Json family_json(const ModelConfig& c) {
  io::Json json;
  json.set("architectures", io::Json::array({row(c.family).architecture}));
  json.set("model_type", name(c.family));
  json.set("vocab_size", c.vocab_size);
  json.set("hidden_size", c.hidden_size);
  json.set("intermediate_size", c.intermediate_size);
  json.set("num_hidden_layers", c.num_layers);
  json.set("num_attention_heads", c.num_heads);
  json.set("num_key_value_heads", c.num_kv_heads);
  json.set("head_dim", c.head_dim);
  json.set("hidden_act", "silu");
  json.set("max_position_embeddings", c.max_position_embeddings);
  json.set("rms_norm_eps", c.rms_norm_eps);
  json.set("rope_theta", c.rope_theta);
  if (c.rope_scaling.form != RopeScaling::Form::none) json.set("rope_scaling", rope_json(c.rope_scaling));
  json.set("initializer_range", c.initializer_range);
  if (c.family != Family::qwen2) json.set("attention_bias", c.qkv_bias);
  if (c.family == Family::llama) json.set("mlp_bias", c.mlp_bias);
  if (c.pad_token_id >= 0) json.set("pad_token_id", c.pad_token_id);
  return json;
}

// Whether the folder's config.json is that of this model still: a user may have changed it since it was read.
bool describes(const std::string& folder, const ModelConfig& c) {
  try {
    return load_config(folder) == c;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string config_text(const ModelConfig& c, const std::string& source_folder) {
  io::Json json =
      !source_folder.empty() && describes(source_folder, c) ? read_config_json(source_folder) : family_json(c);
  json.set("tie_word_embeddings", c.tie_word_embeddings);
  json.set(json.find("dtype") != nullptr ? "dtype" : "torch_dtype", "float32");
  return json.dump(2) + "\n";
}

}  // namespace hone::weights
