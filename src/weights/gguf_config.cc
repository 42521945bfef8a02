#include "weights/gguf_config.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "weights/gguf_keys.h"
#include "weights/gguf_rope.h"
#include "weights/hf_config.h"

namespace hone::weights {

using io::Json;

namespace {

struct SizeKey {
  const char* gguf;  // under the architecture's name
  const char* hf;    // of a config.json
  int64_t ModelConfig::*size;
  bool must_be_there;
};
constexpr SizeKey kSizes[] = {
    {"context_length", "max_position_embeddings", &ModelConfig::max_position_embeddings, true},
    {"embedding_length", "hidden_size", &ModelConfig::hidden_size, true},
    {"block_count", "num_hidden_layers", &ModelConfig::num_layers, true},
    {"feed_forward_length", "intermediate_size", &ModelConfig::intermediate_size, true},
    {"attention.head_count", "num_attention_heads", &ModelConfig::num_heads, true},
    {"attention.head_count_kv", "num_key_value_heads", &ModelConfig::num_kv_heads, false},
    {"attention.key_length", "head_dim", &ModelConfig::head_dim, false},
};

// What other architectures, and other models of these, compute with; the value that changes nothing.
void check_neutral_keys(const GgufKeys& in) {
  for (const auto& [rest, neutral] :
       std::initializer_list<std::pair<const char*, Json>>{{"expert_count", 0},
                                                           {"attention.clamp_kqv", 0},
                                                           {"attention.max_alibi_bias", 0},
                                                           {"attention.causal", true},
                                                           {"attn_logit_softcapping", 0},
                                                           {"final_logit_softcapping", 0},
                                                           {"logit_scale", 1},
                                                           {"embedding_scale", 1},
                                                           {"residual_scale", 1}}) {
    in.expect(rest, neutral);
  }
}

// A window that no token of the context can fall out of changes nothing.
void check_window(const GgufKeys& in) {
  const char* rest = "attention.sliding_window";
  const Json* window = in.find(rest);
  if (window == nullptr || *window == Json(0)) return;
  const int64_t context = in.size("context_length");
  if (in.size(rest) < context) in.fail(rest, fmt::format("none below the context_length of {}", context));
}

}  // namespace

Json config_of_gguf(const io::GgufContent& content, const std::string& name) {
  const GgufKeys in(content, name);
  const Family family = in.family().family;
  check_neutral_keys(in);
  check_window(in);
  const io::GgufTensor* embedding = in.tensor("token_embd.weight");
  if (embedding == nullptr) throw Error(fmt::format("{}: tensor token_embd.weight: expected, found none", name));
  Json config = Json::object({{"architectures", Json::array({in.family().architecture})},
                              {"model_type", hone::name(family)},
                              {"vocab_size", embedding->rows}});
  for (const SizeKey& key : kSizes) {
    if (key.must_be_there || in.find(key.gguf) != nullptr) config.set(key.hf, in.size(key.gguf));
  }
  const int64_t heads = config.at("num_attention_heads").as_int(), hidden = config.at("hidden_size").as_int();
  if (config.find("num_key_value_heads") == nullptr) config.set("num_key_value_heads", heads);
  if (config.find("head_dim") == nullptr) config.set("head_dim", std::max<int64_t>(1, hidden / heads));
  for (const char* rest : {"attention.value_length", "rope.dimension_count"}) in.expect(rest, config.at("head_dim"));
  config.set("rms_norm_eps", in.number("attention.layer_norm_rms_epsilon"));
  config.set("rope_theta", in.number("rope.freq_base", 10000.0f));
  config.set("hidden_act", "silu");
  config.set("tie_word_embeddings", in.tensor("output.weight") == nullptr);
  if (family != Family::qwen2) config.set("attention_bias", in.tensor("blk.0.attn_q.bias") != nullptr);
  if (family == Family::llama) config.set("mlp_bias", in.tensor("blk.0.ffn_gate.bias") != nullptr);
  for (const auto& [key, hf] : {std::pair{"tokenizer.ggml.bos_token_id", "bos_token_id"},
                                {"tokenizer.ggml.eos_token_id", "eos_token_id"},
                                {"hone.pad_token_id", "pad_token_id"}}) {
    if (const Json* id = content.metadata.find(key)) config.set(hf, *id);
  }
  Json scaling = rope_scaling_of_gguf(in, parse_config(config, name));
  if (!scaling.is_null()) config.set("rope_scaling", std::move(scaling));
  return config;
}

void add_config_to_gguf(io::GgufWriter& writer, const ModelConfig& c, io::GgmlType type, const std::string& model) {
  if (c.family == Family::qwen3 && c.qkv_bias) {
    throw Error(fmt::format("{}: attention_bias: expected false, found true", model),
                "qwen3 of a GGUF file has no biases: programs that read it would not load the file");
  }
  const std::string front = std::string(name(c.family)) + ".";
  writer.set("general.architecture", name(c.family));
  writer.set("general.alignment", int64_t{32});
  writer.set("general.file_type", io::ggml_form(type).file_type);
  writer.set("general.quantization_version", int64_t{2});
  writer.set(front + "vocab_size", c.vocab_size);
  for (const SizeKey& key : kSizes) writer.set(front + key.gguf, c.*key.size);
  writer.set(front + "attention.value_length", c.head_dim);
  writer.set(front + "attention.layer_norm_rms_epsilon", c.rms_norm_eps);
  writer.set(front + "rope.freq_base", c.rope_theta);
  writer.set(front + "rope.dimension_count", c.head_dim);
  if (c.pad_token_id >= 0) writer.set("hone.pad_token_id", c.pad_token_id);
  add_rope_to_gguf(writer, c, model);
}

}  // namespace hone::weights
