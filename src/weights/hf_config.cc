#include "weights/hf_config.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "io/file.h"
#include "io/gguf.h"
#include "weights/adapter_folder.h"
#include "weights/config_reader.h"
#include "weights/families.h"
#include "weights/gguf_config.h"
#include "weights/rope_config.h"

namespace hone::weights {

namespace {

constexpr int64_t kMostLayers = 10000;
constexpr double kMostParameters = 1e13;  // beyond it counts of bytes could overflow

// Common to the families.
constexpr int64_t kHiddenSize = 4096, kLayers = 32, kHeads = 32, kHeadDimOfQwen3 = 128;
constexpr int64_t kMaxWindowLayers = 28, kSlidingWindow = 4096;

std::string supported() {
  std::string names;
  for (size_t i = 0; i < std::size(kFamilies); ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : i + 1 < std::size(kFamilies) ? ", " : " or ", kFamilies[i].architecture);
  }
  return names;
}

// architectures[0] decides, model_type where there is none.
Family read_family(ConfigReader& in) {
  if (const io::Json* list = in.present("architectures");
      list != nullptr && list->is_array() && !list->as_array().empty()) {
    const io::Json& found = list->as_array().front();
    for (const FamilyRow& r : kFamilies) {
      if (found == io::Json(r.architecture)) return r.family;
    }
    in.expected("architectures", supported(), found);
    return Family::qwen3;
  }
  if (const io::Json* type = in.present("model_type")) {
    for (const FamilyRow& r : kFamilies) {
      if (*type == io::Json(name(r.family))) return r.family;
    }
    in.expected("model_type", "llama, qwen2 or qwen3", *type);
    return Family::qwen3;
  }
  in.fault("architectures", fmt::format("expected {}, found neither it nor model_type", supported()));
  return Family::qwen3;
}

void check_neutral(ConfigReader& in) {
  if (const io::Json* act = in.present("hidden_act");
      act != nullptr && !(*act == io::Json("silu")) && !(*act == io::Json("swish"))) {
    in.expected("hidden_act", "silu", *act);
  }
  if (const io::Json* dropout = in.present("attention_dropout");
      dropout != nullptr && !(dropout->is_number() && dropout->as_double() == 0)) {
    in.expected("attention_dropout", "0", *dropout);
  }
  if (const io::Json* quantization = in.present("quantization_config")) {
    const io::Json* method = quantization->find("quant_method");
    in.fault("quantization_config", fmt::format("expected none, found {}: weights have to be bf16, f16 or f32",
                                                method != nullptr ? method->describe() : quantization->describe()));
  }
}

// Layers whose attention would be windowed: layer_types where it is given, else those from max_window_layers on.
int64_t count_windowed(ConfigReader& in, const ModelConfig& c, bool use_window) {
  const io::Json* types = in.present("layer_types");
  if (types == nullptr) {
    const io::Json* from = in.present("max_window_layers");
    if (from != nullptr && (!from->is_int() || from->as_int() < 0))
      in.expected("max_window_layers", "an integer", *from);
    const int64_t first = from != nullptr && from->is_int() ? from->as_int() : kMaxWindowLayers;
    return use_window && first < c.num_layers ? c.num_layers - std::max<int64_t>(0, first) : 0;
  }
  if (!types->is_array() || static_cast<int64_t>(types->as_array().size()) != c.num_layers) {
    in.expected("layer_types", fmt::format("a list of num_hidden_layers = {}", c.num_layers), *types);
    return 0;
  }
  int64_t windowed = 0;
  for (const io::Json& type : types->as_array()) {
    if (type == io::Json("sliding_attention")) {
      ++windowed;
    } else if (!(type == io::Json("full_attention"))) {
      in.expected("layer_types", "full_attention", type);
      return 0;
    }
  }
  return windowed;
}

// A sliding window is fine where no token could fall out of it.
void check_window(ConfigReader& in, const ModelConfig& c) {
  if (c.family == Family::llama) return;  // it has none, whatever the keys say
  const bool use_window = in.flag("use_sliding_window", false);
  if (in.has("sliding_window") && in.present("sliding_window") == nullptr) return;  // null: none, whatever the flag
  const int64_t window = in.size("sliding_window", kSlidingWindow);
  const int64_t windowed = count_windowed(in, c, use_window);
  if (windowed == 0 || window >= c.max_position_embeddings) return;
  if (!use_window) {
    in.fault("layer_types", fmt::format("expected full_attention alone, found sliding_attention in {} layers although "
                                        "use_sliding_window is false",
                                        windowed));
    return;
  }
  in.fault("use_sliding_window",
           fmt::format("expected false, found true: {} of {} layers would see the last {} tokens of a context of {}",
                       windowed, c.num_layers, window, c.max_position_embeddings));
}

void check_sizes(ConfigReader& in, const ModelConfig& c) {
  if (c.num_heads % c.num_kv_heads != 0) {
    in.fault("num_attention_heads",
             fmt::format("expected a multiple of num_key_value_heads, found {} and {}", c.num_heads, c.num_kv_heads));
  }
  if (c.head_dim % 2 != 0) in.fault("head_dim", fmt::format("expected an even number, found {}", c.head_dim));
  // in double: the sizes are whatever the file says
  const double width = static_cast<double>(c.hidden_size), heads = static_cast<double>(c.num_heads + c.num_kv_heads);
  const double layer =
      width * (2 * heads * static_cast<double>(c.head_dim) + 3 * static_cast<double>(c.intermediate_size));
  const double parameters = 2 * width * static_cast<double>(c.vocab_size) + static_cast<double>(c.num_layers) * layer;
  if (c.num_layers > kMostLayers) {
    in.fault("num_hidden_layers", fmt::format("expected at most {}, found {}", kMostLayers, c.num_layers));
  }
  if (parameters > kMostParameters) {
    in.fault("sizes",
             fmt::format("a model of {:.1e} parameters, at most {:.0e} are possible", parameters, kMostParameters));
  }
}

// Width of a head: for Qwen3 a key of its own, for the others the share of a head where the key is absent.
int64_t read_head_dim(ConfigReader& in, const ModelConfig& c) {
  if (in.present("head_dim") != nullptr) return in.size("head_dim", 1);
  if (c.family == Family::qwen3 && !in.has("head_dim")) return kHeadDimOfQwen3;
  if (c.hidden_size % c.num_heads != 0) {
    in.fault("hidden_size", fmt::format("expected a multiple of num_attention_heads where head_dim is absent, found {} "
                                        "and {}",
                                        c.hidden_size, c.num_heads));
  }
  return std::max<int64_t>(1, c.hidden_size / c.num_heads);
}

void read_biases(ConfigReader& in, ModelConfig& c) {
  c.qk_norm = c.family == Family::qwen3;
  if (c.family == Family::qwen2) {
    c.qkv_bias = true;  // whatever the keys say
    return;
  }
  c.qkv_bias = c.o_bias = in.flag("attention_bias", false);
  if (c.family == Family::llama) c.mlp_bias = in.flag("mlp_bias", false);
}

int64_t read_pad_token(ConfigReader& in, const ModelConfig& c) {
  const io::Json* id = in.present("pad_token_id");
  if (id == nullptr) return -1;
  if (!id->is_int() || id->as_int() < -c.vocab_size || id->as_int() >= c.vocab_size) {
    in.expected("pad_token_id", fmt::format("an id below vocab_size = {}", c.vocab_size), *id);
    return -1;
  }
  return id->as_int() < 0 ? c.vocab_size + id->as_int() : id->as_int();  // -1 is the last row, as in torch
}

std::string config_path(const std::string& folder) {
  if (io::is_gguf(folder)) return folder;
  const std::string path = io::join_path(folder, "config.json");
  if (!io::exists(path)) {
    throw Error(
        fmt::format("{}: not found", path),
        "a model is a Hugging Face folder with config.json and safetensors, or a file whose name ends with .gguf");
  }
  return path;
}

}  // namespace

io::Json read_config_json(const std::string& folder) {
  const std::string path = config_path(folder);
  if (!io::is_gguf(folder)) return io::read_json(path);
  return config_of_gguf(io::GgufReader(folder, io::GgufLists::pass_over).content(), folder);
}

ModelConfig load_config(const std::string& folder) {
  // PEFT saves none with an adapter
  if (is_adapter_folder(folder) && !io::exists(io::join_path(folder, "config.json"))) {
    return load_config(adapter_base(folder));
  }
  return parse_config(read_config_json(folder), config_path(folder));
}

ModelConfig parse_config(const io::Json& json, const std::string& path) {
  if (!json.is_object()) throw Error(fmt::format("{}: expected an object, found {}", path, json.describe()));
  ConfigReader in(json, path);
  ModelConfig c;
  c.family = read_family(in);
  const FamilyRow& family = row(c.family);
  c.vocab_size = in.size("vocab_size", family.vocab_size);
  c.hidden_size = in.size("hidden_size", kHiddenSize);
  c.intermediate_size = in.size("intermediate_size", family.intermediate_size);
  c.num_layers = in.size("num_hidden_layers", kLayers);
  c.num_heads = in.size("num_attention_heads", kHeads);
  // absent: the class's own default in the Qwen families; null: as many as heads
  const bool own_default = c.family != Family::llama && !in.has("num_key_value_heads");
  c.num_kv_heads = in.size("num_key_value_heads", own_default ? kHeads : c.num_heads);
  c.head_dim = read_head_dim(in, c);
  c.max_position_embeddings = in.size("max_position_embeddings", family.max_position_embeddings);
  c.rms_norm_eps = static_cast<float>(in.positive(in.present("rms_norm_eps"), "rms_norm_eps", 1e-6));
  c.initializer_range = static_cast<float>(in.positive(in.present("initializer_range"), "initializer_range", 0.02));
  c.tie_word_embeddings = in.flag("tie_word_embeddings", false);
  c.pad_token_id = read_pad_token(in, c);
  read_biases(in, c);
  read_rope(in, c, 10000.0);
  check_neutral(in);
  check_window(in, c);
  check_sizes(in, c);
  in.faults().raise_if_any("this model cannot be run as it is",
                           "dense models of the Llama, Qwen2 and Qwen3 families run; docs/models.md lists the keys");
  return c;
}

std::string defaulted_sizes(const std::string& folder) {
  const io::Json json = read_config_json(folder);
  const ModelConfig c = load_config(folder);
  std::string list;
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, int64_t>>{{"vocab_size", c.vocab_size},
                                                              {"hidden_size", c.hidden_size},
                                                              {"intermediate_size", c.intermediate_size},
                                                              {"num_hidden_layers", c.num_layers},
                                                              {"num_attention_heads", c.num_heads},
                                                              {"num_key_value_heads", c.num_kv_heads},
                                                              {"head_dim", c.head_dim}}) {
    const io::Json* found = json.find(key);
    if (found == nullptr || found->is_null()) list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", key, value);
  }
  return list;
}

}  // namespace hone::weights
