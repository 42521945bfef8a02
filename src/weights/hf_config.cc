#include "weights/hf_config.h"

#include <cmath>
#include <optional>

#include "core/error.h"
#include "io/faults.h"
#include "io/file.h"
#include "io/json.h"

namespace hone::weights {

namespace {

constexpr double kMostParameters = 1e13;  // beyond it counts of bytes could overflow

// Reads typed keys of one JSON object, collecting faults.
class Reader {
 public:
  Reader(const io::Json& object, std::string file) : object_(object), file_(std::move(file)) {}

  int64_t size(const char* key, std::optional<int64_t> fallback = std::nullopt) {
    const io::Json* value = present(key);
    if (value == nullptr) {
      if (fallback) return *fallback;
      fault("{}: missing", key);
      return 1;
    }
    if (!value->is_int() || value->as_int() < 1 || value->as_int() > (int64_t{1} << 31)) {
      fault("{}: expected a positive integer, found {}", key, value->describe());
      return 1;
    }
    return value->as_int();
  }

  double positive(const io::Json* value, const char* key, double fallback) {
    if (value == nullptr) return fallback;
    if (!value->is_number() || !(value->as_double() > 0) || !std::isfinite(value->as_double())) {
      fault("{}: expected a number above 0, found {}", key, value->describe());
      return fallback;
    }
    return value->as_double();
  }

  bool flag(const char* key, bool fallback) {
    const io::Json* value = present(key);
    if (value == nullptr) return fallback;
    if (value->is_bool()) return value->as_bool();
    fault("{}: expected true or false, found {}", key, value->describe());
    return fallback;
  }

  const io::Json* present(const char* key) const {
    const io::Json* value = object_.find(key);
    return value != nullptr && !value->is_null() ? value : nullptr;
  }

  template <class... Args>
  void fault(fmt::format_string<Args...> format, Args&&... args) {
    faults_.add(file_ + ": " + fmt::format(format, std::forward<Args>(args)...));
  }
  const io::Faults& faults() const { return faults_; }

 private:
  const io::Json& object_;
  std::string file_;
  io::Faults faults_;
};

void check_family(Reader& in) {
  std::string name;
  if (const io::Json* list = in.present("architectures");
      list != nullptr && list->is_array() && !list->as_array().empty() && list->as_array()[0].is_string()) {
    name = list->as_array()[0].as_string();
    if (name != "Qwen3ForCausalLM") in.fault("architectures: expected Qwen3ForCausalLM, found {}", name);
  } else if (const io::Json* type = in.present("model_type"); type != nullptr && type->is_string()) {
    if (type->as_string() != "qwen3") in.fault("model_type: expected qwen3, found {}", type->as_string());
  } else {
    in.fault("architectures: expected [\"Qwen3ForCausalLM\"], found neither it nor model_type");
  }
}

void check_neutral(Reader& in) {
  if (const io::Json* act = in.present("hidden_act"); act != nullptr && !(*act == io::Json("silu"))) {
    in.fault("hidden_act: expected silu, found {}", act->describe());
  }
  if (in.flag("attention_bias", false)) in.fault("attention_bias: true is not there yet");
  if (in.flag("use_sliding_window", false)) in.fault("use_sliding_window: true is not there yet");
  if (const io::Json* types = in.present("layer_types"); types != nullptr && types->is_array()) {
    for (const io::Json& type : types->as_array()) {
      if (!(type == io::Json("full_attention"))) {
        in.fault("layer_types: expected full_attention alone, found {}", type.describe());
        break;
      }
    }
  }
}

// The dictionary of rotary parameters: rope_scaling (4.x) where it is not empty, else rope_parameters (5.x).
double read_rope_theta(Reader& in) {
  const io::Json* theta = in.present("rope_theta");
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const io::Json* rope = in.present(key);
    if (rope == nullptr) continue;
    if (!rope->is_object()) {
      in.fault("{}: expected an object or null, found {}", key, rope->describe());
      continue;
    }
    const io::Json* type = rope->find("rope_type");
    if (type == nullptr) type = rope->find("type");
    if (type != nullptr && !(*type == io::Json("default"))) {
      in.fault("{}.rope_type: expected default, found {}", key, type->describe());
    }
    if (const io::Json* inner = rope->find("rope_theta"); inner != nullptr) theta = inner;
  }
  return in.positive(theta, "rope_theta", 10000.0);
}

}  // namespace

ModelConfig load_config(const std::string& folder) {
  const std::string path = io::join_path(folder, "config.json");
  if (!io::exists(path)) {
    throw Error(fmt::format("{}: not found", path), "a Hugging Face model folder holds config.json and safetensors");
  }
  const io::Json json = io::read_json(path);
  Reader in(json, path);
  check_family(in);
  check_neutral(in);
  ModelConfig c;
  c.vocab_size = in.size("vocab_size");
  c.hidden_size = in.size("hidden_size");
  c.intermediate_size = in.size("intermediate_size");
  c.num_layers = in.size("num_hidden_layers");
  c.num_heads = in.size("num_attention_heads");
  c.num_kv_heads = in.size("num_key_value_heads", c.num_heads);
  c.head_dim = in.size("head_dim", 128);
  c.max_position_embeddings = in.size("max_position_embeddings", 32768);
  c.rms_norm_eps = static_cast<float>(in.positive(in.present("rms_norm_eps"), "rms_norm_eps", 1e-6));
  c.initializer_range = static_cast<float>(in.positive(in.present("initializer_range"), "initializer_range", 0.02));
  c.rope_theta = static_cast<float>(read_rope_theta(in));
  c.tie_word_embeddings = in.flag("tie_word_embeddings", false);
  if (c.num_heads % c.num_kv_heads != 0) {
    in.fault("num_attention_heads: expected a multiple of num_key_value_heads, found {} and {}", c.num_heads,
             c.num_kv_heads);
  }
  // in double: the sizes are whatever the file says
  const double width = static_cast<double>(c.hidden_size), heads = static_cast<double>(c.num_heads + c.num_kv_heads);
  const double layer =
      width * (2 * heads * static_cast<double>(c.head_dim) + 3 * static_cast<double>(c.intermediate_size));
  const double parameters = 2 * width * static_cast<double>(c.vocab_size) + static_cast<double>(c.num_layers) * layer;
  if (parameters > kMostParameters) {
    in.fault("sizes: a model of {:.1e} parameters, at most {:.0e} are possible", parameters, kMostParameters);
  }
  if (c.head_dim % 2 != 0) in.fault("head_dim: expected an even number, found {}", c.head_dim);
  in.faults().raise_if_any("this model cannot be run as it is", "dense Qwen3 models run so far");
  return c;
}

std::string config_text(const ModelConfig& c, const std::string& source_folder) {
  io::Json json;
  const std::string source = source_folder.empty() ? "" : io::join_path(source_folder, "config.json");
  if (!source.empty() && io::exists(source)) {
    json = io::read_json(source);
  } else {
    json.set("architectures", io::Json::array({"Qwen3ForCausalLM"}));
    json.set("model_type", "qwen3");
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
    json.set("initializer_range", c.initializer_range);
  }
  json.set("tie_word_embeddings", c.tie_word_embeddings);
  json.set(json.find("dtype") != nullptr ? "dtype" : "torch_dtype", "float32");
  return json.dump(2) + "\n";
}

}  // namespace hone::weights
