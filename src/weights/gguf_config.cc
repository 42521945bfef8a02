#include "weights/gguf_config.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/error.h"
#include "models/rope.h"
#include "weights/families.h"
#include "weights/gguf_names.h"
#include "weights/hf_config.h"

namespace hone::weights {

using io::Json;

namespace {

// Keys of the metadata under the architecture's name.
class GgufKeys {
 public:
  explicit GgufKeys(const io::GgufReader& file) : file_(file) {
    const Json* found = file.metadata().find("general.architecture");
    for (const FamilyRow& row : kFamilies) {
      if (found != nullptr && *found == Json(name(row.family))) family_ = &row;
    }
    if (family_ == nullptr) fail("general.architecture", "llama, qwen2 or qwen3", found);
  }

  const FamilyRow& family() const { return *family_; }
  std::string key(const std::string& rest) const { return fmt::format("{}.{}", name(family_->family), rest); }
  const Json* find(const std::string& rest) const { return file_.metadata().find(key(rest)); }

  // Above 0; where it is absent `otherwise`, or an Error.
  int64_t size(const std::string& rest, std::optional<int64_t> otherwise = std::nullopt) const {
    const Json* value = find(rest);
    if (value == nullptr && otherwise) return *otherwise;
    if (value == nullptr || !value->is_int() || value->as_int() <= 0) fail(key(rest), "a size above 0", value);
    return value->as_int();
  }
  // The same, as short as names the float that the file holds.
  Json number(const std::string& rest, std::optional<float> otherwise = std::nullopt) const {
    const Json* value = find(rest);
    if (value == nullptr && otherwise) return *otherwise;
    if (value == nullptr || !value->is_number() || !(value->as_float() > 0) || !std::isfinite(value->as_float())) {
      fail(key(rest), "a number above 0", value);
    }
    return value->as_float();
  }
  // Raises Error unless the key is absent or neutral.
  void expect(const std::string& rest, double neutral) const {
    const Json* value = find(rest);
    if (value == nullptr || (value->is_number() && value->as_double() == neutral)) return;
    fail(key(rest), fmt::format("{:g}", neutral), value);
  }
  [[noreturn]] void fail(const std::string& at, const std::string& expected, const Json* found) const {
    throw Error(fmt::format("{}: {}: expected {}, found {}", file_.path(), at, expected,
                            found == nullptr ? "none" : found->describe()),
                "dense models of the Llama, Qwen2 and Qwen3 families run; docs/models.md");
  }

 private:
  const io::GgufReader& file_;
  const FamilyRow* family_ = nullptr;
};

Json scaling_of(const GgufKeys& in) {
  const Json* type = in.find("rope.scaling.type");
  const std::string form = type != nullptr && type->is_string() ? type->as_string() : "none";
  if (form == "none") {
    if (in.find("rope.scale_linear") == nullptr) return {};  // the key of old files
    return Json::object({{"rope_type", "linear"}, {"factor", in.number("rope.scale_linear")}});
  }
  if (form == "linear") return Json::object({{"rope_type", "linear"}, {"factor", in.number("rope.scaling.factor")}});
  if (form != "yarn") in.fail(in.key("rope.scaling.type"), "none, linear or yarn", type);
  in.expect("rope.scaling.yarn_ext_factor", 1);
  in.expect("rope.scaling.yarn_attn_factor", 1);
  Json yarn = Json::object({{"rope_type", "yarn"}, {"factor", in.number("rope.scaling.factor")}});
  yarn.set("original_max_position_embeddings", in.size("rope.scaling.original_context_length"));
  if (in.find("rope.scaling.attn_factor") != nullptr) {  // on top of the usual one
    const double usual = yarn_attention_factor(yarn.at("factor").as_double(), 0, 0);
    yarn.set("attention_factor", usual * in.number("rope.scaling.attn_factor").as_double());
  }
  for (const char* key : {"beta_fast", "beta_slow"}) {
    const std::string rest = std::string("rope.scaling.yarn_") + key;
    if (in.find(rest) != nullptr) yarn.set(key, in.number(rest));
  }
  return yarn;
}

std::vector<float> frequencies_without(const ModelConfig& config) {
  ModelConfig plain = config;
  plain.rope_scaling = {};
  return rotary_frequencies(plain);
}

// Divisors of the frequencies in a tensor of their own are llama3's scaling, whose constants the file does not hold:
// those that give the divisors are looked for. The factor is the largest divisor; low and high are 1 and 4 in all
// published models.
Json llama3_scaling(const io::GgufReader& file, const io::GgufTensor& factors, const ModelConfig& plain) {
  if (factors.rows != 1 || factors.cols != plain.head_dim / 2) {
    throw Error(fmt::format("{}: tensor {}: expected {} divisors, found {}", file.path(), kRopeFactors,
                            plain.head_dim / 2, factors.rows * factors.cols));
  }
  std::vector<float> divisors(static_cast<size_t>(factors.cols));
  io::read_ggml_row(factors.type, factors.data, factors.cols, divisors.data());
  const std::vector<float> without = frequencies_without(plain);
  ModelConfig scaled = plain;
  scaled.rope_scaling.form = RopeScaling::Form::llama3;
  scaled.rope_scaling.factor = double{*std::max_element(divisors.begin(), divisors.end())};
  const auto fits = [&](int64_t original_length) {
    scaled.rope_scaling.original_length = static_cast<double>(original_length);
    const std::vector<float> own = rotary_frequencies(scaled);
    bool equal = scaled.rope_scaling.factor > 1;
    for (size_t i = 0; equal && i < own.size(); ++i) {
      equal = std::abs(double{without[i]} / double{divisors[i]} / double{own[i]} - 1) < 1e-5;
    }
    return equal;
  };
  int64_t length = 8192;  // of the published models
  if (!fits(length)) {
    for (length = 16; length <= (1 << 24) && !fits(length);) length *= 2;
  }
  if (length > (1 << 24)) {
    throw Error(fmt::format("{}: {}: expected the divisors of Llama 3's scaling (low 1, high 4), found others",
                            file.path(), kRopeFactors));
  }
  return Json::object({{"rope_type", "llama3"},
                       {"factor", scaled.rope_scaling.factor},
                       {"low_freq_factor", 1.0},
                       {"high_freq_factor", 4.0},
                       {"original_max_position_embeddings", length}});
}

}  // namespace

Json config_of_gguf(const io::GgufReader& file) {
  const GgufKeys in(file);
  const Family family = in.family().family;
  const io::GgufTensor* embedding = file.find("token_embd.weight");
  if (embedding == nullptr) throw Error(fmt::format("{}: tensor token_embd.weight: expected, found none", file.path()));
  const int64_t hidden = in.size("embedding_length"), heads = in.size("attention.head_count");
  const int64_t head_dim = in.size("attention.key_length", std::max<int64_t>(1, hidden / heads));
  for (const char* key : {"attention.value_length", "rope.dimension_count"}) {
    in.expect(key, static_cast<double>(head_dim));
  }
  Json config = Json::object({{"architectures", Json::array({in.family().architecture})},
                              {"model_type", name(family)},
                              {"vocab_size", embedding->rows},
                              {"hidden_size", hidden},
                              {"intermediate_size", in.size("feed_forward_length")},
                              {"num_hidden_layers", in.size("block_count")},
                              {"num_attention_heads", heads},
                              {"num_key_value_heads", in.size("attention.head_count_kv", heads)},
                              {"head_dim", head_dim},
                              {"max_position_embeddings", in.size("context_length")},
                              {"rms_norm_eps", in.number("attention.layer_norm_rms_epsilon")},
                              {"rope_theta", in.number("rope.freq_base", 10000.0f)},
                              {"hidden_act", "silu"},
                              {"tie_word_embeddings", file.find("output.weight") == nullptr}});
  if (family != Family::qwen2) config.set("attention_bias", file.find("blk.0.attn_q.bias") != nullptr);
  if (family == Family::llama) config.set("mlp_bias", file.find("blk.0.ffn_gate.bias") != nullptr);
  for (const auto& [key, hf] : {std::pair{"tokenizer.ggml.bos_token_id", "bos_token_id"},
                                {"tokenizer.ggml.eos_token_id", "eos_token_id"},
                                {"hone.pad_token_id", "pad_token_id"}}) {
    if (const Json* id = file.metadata().find(key)) config.set(hf, *id);
  }
  const io::GgufTensor* factors = file.find(kRopeFactors);
  Json scaling =
      factors != nullptr ? llama3_scaling(file, *factors, parse_config(config, file.path())) : scaling_of(in);
  if (!scaling.is_null()) config.set("rope_scaling", std::move(scaling));
  return config;
}

namespace {

void add_rope(io::GgufWriter& writer, const ModelConfig& c, const std::string& front, const std::string& model) {
  const RopeScaling& s = c.rope_scaling;
  if (s.form == RopeScaling::Form::llama3) {  // other readers take it from the divisors alone
    std::vector<float> divisors = frequencies_without(c);
    const std::vector<float> scaled = rotary_frequencies(c);
    for (size_t i = 0; i < divisors.size(); ++i) divisors[i] /= scaled[i];
    writer.add(kRopeFactors, {static_cast<int64_t>(divisors.size())}, io::GgmlType::f32,
               [divisors](int64_t, float* out) { std::copy(divisors.begin(), divisors.end(), out); });
  }
  if (s.form != RopeScaling::Form::linear && s.form != RopeScaling::Form::yarn) return;
  writer.set(front + "rope.scaling.type", s.form == RopeScaling::Form::linear ? "linear" : "yarn");
  writer.set(front + "rope.scaling.factor", s.factor);
  if (s.form == RopeScaling::Form::linear) return;
  if (!s.truncate) {
    throw Error(fmt::format("{}: rope_scaling.truncate: expected true, found false", model),
                "a GGUF file has no place for it: programs that read it would compute something else");
  }
  writer.set(front + "rope.scaling.original_context_length", static_cast<int64_t>(s.original_length));
  writer.set(front + "rope.scaling.yarn_beta_fast", s.beta_fast);
  writer.set(front + "rope.scaling.yarn_beta_slow", s.beta_slow);
  const double usual = yarn_attention_factor(s.factor, 0, 0);
  if (s.attention_factor != usual) writer.set(front + "rope.scaling.attn_factor", s.attention_factor / usual);
}

}  // namespace

void add_config_to_gguf(io::GgufWriter& writer, const ModelConfig& c, io::GgmlType type, const std::string& model) {
  if (c.family == Family::qwen3 && c.qkv_bias) {
    throw Error(fmt::format("{}: attention_bias: expected false, found true", model),
                "qwen3 of a GGUF file has no biases: programs that read it would not load the file");
  }
  const std::string front = std::string(name(c.family)) + ".";
  writer.set("general.architecture", name(c.family));
  writer.set("general.alignment", int64_t{32});
  constexpr std::pair<io::GgmlType, int64_t> kFileTypes[] = {
      {io::GgmlType::f32, 0}, {io::GgmlType::f16, 1}, {io::GgmlType::q8_0, 7}, {io::GgmlType::bf16, 32}};
  for (const auto& [of, number] : kFileTypes) {
    if (of == type) writer.set("general.file_type", number);
  }
  writer.set("general.quantization_version", int64_t{2});
  writer.set(front + "vocab_size", c.vocab_size);
  writer.set(front + "context_length", c.max_position_embeddings);
  writer.set(front + "embedding_length", c.hidden_size);
  writer.set(front + "block_count", c.num_layers);
  writer.set(front + "feed_forward_length", c.intermediate_size);
  writer.set(front + "attention.head_count", c.num_heads);
  writer.set(front + "attention.head_count_kv", c.num_kv_heads);
  writer.set(front + "attention.key_length", c.head_dim);
  writer.set(front + "attention.value_length", c.head_dim);
  writer.set(front + "attention.layer_norm_rms_epsilon", c.rms_norm_eps);
  writer.set(front + "rope.freq_base", c.rope_theta);
  writer.set(front + "rope.dimension_count", c.head_dim);
  if (c.pad_token_id >= 0) writer.set("hone.pad_token_id", c.pad_token_id);
  add_rope(writer, c, front, model);
}

}  // namespace hone::weights
