#include "weights/rope_config.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "models/rope.h"

namespace hone::weights {

namespace {

using Form = RopeScaling::Form;

// One object of rotary parameters and what errors call it.
struct Rope {
  const io::Json* object = nullptr;  // nullptr: there is none
  std::string key;

  const io::Json* find(std::string_view name) const {
    const io::Json* value = object != nullptr ? object->find(name) : nullptr;
    return value != nullptr && !value->is_null() ? value : nullptr;
  }
  std::string path(const std::string& name) const { return key + "." + name; }
};

// rope_scaling where it is not empty, else rope_parameters; of one for each type of layer that of full_attention.
Rope find_rope(ConfigReader& in) {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const io::Json* value = in.present(key);
    if (value == nullptr) continue;
    if (!value->is_object()) {
      in.expected(key, "an object or null", *value);
      continue;
    }
    if (value->as_object().empty()) continue;
    if (const io::Json* full = value->find("full_attention"); full != nullptr && full->is_object()) {
      return {full, std::string(key) + ".full_attention"};
    }
    return {value, key};
  }
  return {};
}

Form read_form(ConfigReader& in, const Rope& rope) {
  const char* key = rope.find("rope_type") != nullptr ? "rope_type" : "type";
  const io::Json* type = rope.find(key);
  if (type == nullptr) return Form::none;
  const std::string name = type->is_string() ? type->as_string() : "";
  // mrope is default with sections for the axes of images; text has one axis
  if (name == "default" || name == "mrope") return Form::none;
  if (name == "linear") return Form::linear;
  if (name == "llama3") return Form::llama3;
  if (name == "yarn") return Form::yarn;
  in.expected(rope.path(key), "default, linear, llama3 or yarn", *type);
  return Form::none;
}

double required(ConfigReader& in, const Rope& rope, const char* name) {
  const io::Json* value = rope.find(name);
  if (value == nullptr) in.fault(rope.path(name), "expected a number above 0, found none");
  return in.positive(value, rope.path(name), 1.0);
}

double optional(ConfigReader& in, const Rope& rope, const char* name, double fallback) {
  return in.positive(rope.find(name), rope.path(name), fallback);
}

double original_length(ConfigReader& in, const Rope& rope, const ModelConfig& config) {
  const char* key = "original_max_position_embeddings";
  if (const io::Json* top = in.present(key)) return in.positive(top, key, 1.0);
  return optional(in, rope, key, static_cast<double>(config.max_position_embeddings));
}

void read_llama3(ConfigReader& in, const Rope& rope, const ModelConfig& config, RopeScaling& s) {
  s.factor = required(in, rope, "factor");
  s.low_freq_factor = required(in, rope, "low_freq_factor");
  s.high_freq_factor = required(in, rope, "high_freq_factor");
  s.original_length = original_length(in, rope, config);
  if (in.faults().empty() && s.high_freq_factor <= s.low_freq_factor) {
    in.fault(rope.path("high_freq_factor"),
             fmt::format("expected above low_freq_factor = {}, found {}", s.low_freq_factor, s.high_freq_factor));
  }
}

void read_yarn(ConfigReader& in, const Rope& rope, const ModelConfig& config, RopeScaling& s) {
  s.original_length = original_length(in, rope, config);
  s.factor = optional(in, rope, "factor", static_cast<double>(config.max_position_embeddings) / s.original_length);
  s.beta_fast = optional(in, rope, "beta_fast", 32.0);
  s.beta_slow = optional(in, rope, "beta_slow", 1.0);
  const auto number = [&](const char* name) {
    const io::Json* value = rope.find(name);
    if (value == nullptr) return 0.0;
    if (value->is_number()) return value->as_double();
    in.expected(rope.path(name), "a number", *value);
    return 0.0;
  };
  s.attention_factor = optional(in, rope, "attention_factor",
                                yarn_attention_factor(s.factor, number("mscale"), number("mscale_all_dim")));
  if (const io::Json* truncate = rope.find("truncate")) {
    if (!truncate->is_bool()) in.expected(rope.path("truncate"), "true or false", *truncate);
    s.truncate = !truncate->is_bool() || truncate->as_bool();
  }
}

}  // namespace

void read_rope(ConfigReader& in, ModelConfig& config, double default_theta) {
  const Rope rope = find_rope(in);
  const io::Json* inner = rope.find("rope_theta");
  config.rope_theta =
      static_cast<float>(inner != nullptr ? in.positive(inner, rope.path("rope_theta"), default_theta)
                                          : in.positive(in.present("rope_theta"), "rope_theta", default_theta));
  const io::Json* partial = rope.find("partial_rotary_factor");
  if (partial == nullptr) partial = in.present("partial_rotary_factor");
  if (partial != nullptr && !(partial->is_number() && partial->as_double() == 1.0)) {
    in.expected("partial_rotary_factor", "1", *partial);
  }
  RopeScaling& s = config.rope_scaling;
  s.form = read_form(in, rope);
  if (s.form == Form::linear) s.factor = required(in, rope, "factor");
  if (s.form == Form::llama3) read_llama3(in, rope, config, s);
  if (s.form != Form::yarn) return;
  if (config.rope_theta == 1.0f) in.fault("rope_theta", "expected other than 1 for yarn, found 1");
  read_yarn(in, rope, config, s);
  // yarn is set up to reach factor times the original length, which max_position_embeddings does not always say
  const double reach = std::min(s.original_length * s.factor, 0x1p31);
  config.max_position_embeddings = std::max(config.max_position_embeddings, static_cast<int64_t>(std::floor(reach)));
}

}  // namespace hone::weights
