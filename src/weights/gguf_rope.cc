#include "weights/gguf_rope.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "models/rope.h"
#include "weights/gguf_names.h"

namespace hone::weights {

using io::Json;
using Form = RopeScaling::Form;

namespace {

constexpr const char* kNoPlace = "a GGUF file has no place for it: programs that read it would compute something else";
constexpr int64_t kPublishedLength = 8192;  // original_max_position_embeddings of Llama 3.x

// 1 where no key names one, or one names 0; rope.scale_linear is the key of old files.
Json scaling_factor(const GgufKeys& in) {
  const char* rest = in.find("rope.scaling.factor") != nullptr ? "rope.scaling.factor" : "rope.scale_linear";
  const Json* value = in.find(rest);
  if (value == nullptr || (value->is_number() && value->as_double() == 0)) return 1.0f;
  return in.number(rest);
}

Json yarn_scaling(const GgufKeys& in, const ModelConfig& config) {
  in.expect("rope.scaling.yarn_ext_factor", 1);
  in.expect("rope.scaling.yarn_attn_factor", 1);
  in.expect("rope.scaling.yarn_log_multiplier", 0);
  Json yarn = Json::object({{"rope_type", "yarn"}, {"factor", scaling_factor(in)}});
  yarn.set("original_max_position_embeddings",
           in.size("rope.scaling.original_context_length", config.max_position_embeddings));
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

// As the keys have it; without a type it is linear.
Json scaling_of_keys(const GgufKeys& in, const ModelConfig& config) {
  const Json* type = in.find("rope.scaling.type");
  const Json form = type != nullptr ? *type : Json("linear");
  if (form == Json("yarn")) return yarn_scaling(in, config);
  in.expect("rope.scaling.attn_factor", 1);
  if (form == Json("none")) return {};
  if (!(form == Json("linear"))) in.fail("rope.scaling.type", "none, linear or yarn");
  const Json factor = scaling_factor(in);
  return factor.as_double() == 1 ? Json() : Json::object({{"rope_type", "linear"}, {"factor", factor}});
}

Json scaling_of_divisors(const GgufKeys& in, const io::GgufTensor& tensor, const ModelConfig& config) {
  if (tensor.rows != 1 || tensor.cols != config.head_dim / 2) {
    throw Error(fmt::format("{}: tensor {}: expected {} divisors, found {}", in.file(), kRopeFactors,
                            config.head_dim / 2, tensor.rows * tensor.cols));
  }
  std::vector<float> divisors(static_cast<size_t>(tensor.cols));
  io::read_ggml_row(tensor.type, tensor.data, tensor.cols, divisors.data());
  if (std::count(divisors.begin(), divisors.end(), 1.0f) == tensor.cols) return {};
  const auto found = find_llama3(divisors, config);
  if (!found) {
    throw Error(fmt::format("{}: tensor {}: expected the divisors of Llama 3's scaling (low 1, high 4), found others",
                            in.file(), kRopeFactors));
  }
  return Json::object({{"rope_type", "llama3"},
                       {"factor", found->factor},
                       {"low_freq_factor", found->low_freq_factor},
                       {"high_freq_factor", found->high_freq_factor},
                       {"original_max_position_embeddings", static_cast<int64_t>(found->original_length)}});
}

std::vector<double> frequencies_without(ModelConfig config) {
  config.rope_scaling = {};
  return exact_rotary_frequencies(config);
}

}  // namespace

Json rope_scaling_of_gguf(const GgufKeys& in, const ModelConfig& config) {
  Json scaling = scaling_of_keys(in, config);
  const io::GgufTensor* divisors = in.tensor(kRopeFactors);
  if (divisors == nullptr) return scaling;
  if (!scaling.is_null()) {
    throw Error(fmt::format("{}: tensor {}: expected no other scaling beside it, found {}", in.file(), kRopeFactors,
                            scaling.dump()));
  }
  return scaling_of_divisors(in, *divisors, config);
}

std::optional<RopeScaling> find_llama3(std::span<const float> divisors, const ModelConfig& config) {
  if (!std::all_of(divisors.begin(), divisors.end(), [](float d) { return std::isfinite(d) && d > 0; })) return {};
  const std::vector<double> plain = frequencies_without(config);
  ModelConfig scaled = config;
  RopeScaling& s = scaled.rope_scaling;
  s = {.form = Form::llama3};
  s.factor = Json(*std::max_element(divisors.begin(), divisors.end())).as_double();  // 10.1 and not what float makes
  if (!(s.factor > 1)) return {};
  const auto fits = [&](int64_t original_length) {
    s.original_length = static_cast<double>(original_length);
    const std::vector<double> own = exact_rotary_frequencies(scaled);
    for (size_t i = 0; i < own.size(); ++i) {
      if (!(std::abs(plain[i] / double{divisors[i]} / own[i] - 1) < 1e-5)) return false;
    }
    return true;
  };
  if (fits(kPublishedLength)) return s;
  for (int64_t length = 16; length <= (1 << 24); length *= 2) {
    if (fits(length)) return s;
  }
  return {};
}

namespace {

// Other readers take llama3 from the divisors alone.
void add_divisors(io::GgufWriter& writer, const ModelConfig& c, const std::string& model) {
  const RopeScaling& s = c.rope_scaling;
  if (s.factor == 1) return;  // the plain frequencies
  const std::vector<double> plain = frequencies_without(c), scaled = exact_rotary_frequencies(c);
  std::vector<float> divisors;
  for (size_t i = 0; i < plain.size(); ++i) divisors.push_back(static_cast<float>(plain[i] / scaled[i]));
  const auto found = find_llama3(divisors, c);
  ModelConfig read = c;
  read.rope_scaling = found.value_or(RopeScaling{});
  if (!found || rotary_frequencies(read) != rotary_frequencies(c)) {
    throw Error(fmt::format("{}: rope_scaling: expected low_freq_factor 1, high_freq_factor 4, an "
                            "original_max_position_embeddings that is a power of two from 16 on, and a frequency that "
                            "is slowed by the whole factor; found {}, {}, {} and factor {}",
                            model, s.low_freq_factor, s.high_freq_factor, s.original_length, s.factor),
                kNoPlace);
  }
  writer.add(kRopeFactors, {static_cast<int64_t>(divisors.size())}, io::GgmlType::f32,
             [divisors](int64_t, float* out) { std::copy(divisors.begin(), divisors.end(), out); });
}

}  // namespace

void add_rope_to_gguf(io::GgufWriter& writer, const ModelConfig& c, const std::string& model) {
  const RopeScaling& s = c.rope_scaling;
  const std::string front = std::string(name(c.family)) + ".rope.scaling.";
  if (s.form == Form::llama3) add_divisors(writer, c, model);
  if (s.form != Form::linear && s.form != Form::yarn) return;
  writer.set(front + "type", s.form == Form::linear ? "linear" : "yarn");
  writer.set(front + "factor", s.factor);
  if (s.form == Form::linear) return;
  if (!s.truncate) {
    throw Error(fmt::format("{}: rope_scaling.truncate: expected true, found false", model), kNoPlace);
  }
  writer.set(front + "original_context_length", static_cast<int64_t>(s.original_length));
  writer.set(front + "yarn_beta_fast", s.beta_fast);
  writer.set(front + "yarn_beta_slow", s.beta_slow);
  const double usual = yarn_attention_factor(s.factor, 0, 0);
  if (s.attention_factor != usual) writer.set(front + "attn_factor", s.attention_factor / usual);
}

}  // namespace hone::weights
