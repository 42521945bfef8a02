#include "weights/adapter_folder.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "io/atomic_file.h"
#include "io/file.h"
#include "io/gguf.h"
#include "io/safetensors.h"
#include "weights/hf_folder.h"

namespace hone::weights {

namespace {

std::string adapter_config_path(const std::string& folder) { return io::join_path(folder, "adapter_config.json"); }
std::string tensors_path(const std::string& folder) { return io::join_path(folder, "adapter_model.safetensors"); }

// The modules that a list of PEFT names, or its one text: all-linear or a single name.
void read_modules(const io::Json& targets, const std::string& path, LoraConfig& lora, io::Faults& faults) {
  std::vector<std::string> names;
  if (targets.is_string()) names = {targets.as_string()};
  if (targets.is_array()) {
    for (const io::Json& item : targets.as_array()) names.push_back(item.is_string() ? item.as_string() : item.dump());
  }
  if (!set_modules(lora, names, {})) {
    faults.add(
        fmt::format("{}: target_modules: expected all-linear or a list out of q_proj, k_proj, v_proj, o_proj, "
                    "gate_proj, up_proj and down_proj, found {}",
                    path, targets.dump()));
  }
}

}  // namespace

bool is_adapter_folder(const std::string& folder) { return io::exists(adapter_config_path(folder)); }

AdapterConfig load_adapter_config(const std::string& folder) {
  const std::string path = adapter_config_path(folder);
  if (!io::exists(path)) {
    throw Error(fmt::format("{}: expected an adapter, found no adapter_config.json", folder),
                "name a folder with adapter_config.json and adapter_model.safetensors");
  }
  const io::Json json = io::read_json(path);
  AdapterConfig config;
  io::Faults faults;
  const auto found = [&](const char* key) { return json.find(key); };
  const auto expect = [&](const char* key, const std::string& expected, bool holds) {
    const io::Json* value = found(key);
    if (!holds) {
      faults.add(fmt::format("{}: {}: expected {}, found {}", path, key, expected,
                             value != nullptr ? value->describe() : "none"));
    }
  };
  // absent, null, false, 0 or empty
  const auto is_neutral = [&](const char* key) {
    const io::Json* value = found(key);
    if (value == nullptr || value->is_null()) return true;
    if (value->is_bool()) return !value->as_bool();
    if (value->is_number()) return value->as_double() == 0;
    if (value->is_array()) return value->as_array().empty();
    return value->is_object() && value->as_object().empty();
  };
  const io::Json *type = found("peft_type"), *rank = found("r"), *alpha = found("lora_alpha"), *bias = found("bias");
  expect("peft_type", "LORA", type != nullptr && type->is_string() && type->as_string() == "LORA");
  expect("r", "1 to 65536", rank != nullptr && rank->is_int() && rank->as_int() >= 1 && rank->as_int() <= 65536);
  expect("lora_alpha", fmt::format("above 0, at most {}", kLargestLoraAlpha),
         alpha != nullptr && alpha->is_number() && alpha->as_double() > 0 && alpha->as_double() <= kLargestLoraAlpha);
  expect("bias", "none", bias == nullptr || bias->is_null() || (bias->is_string() && bias->as_string() == "none"));
  for (const char* key : {"use_dora", "use_rslora", "fan_in_fan_out", "lora_bias", "rank_pattern", "alpha_pattern",
                          "modules_to_save", "layers_to_transform", "layer_replication", "exclude_modules"}) {
    expect(key, "none: it is not there yet", is_neutral(key));
  }
  const io::Json *dropout = found("lora_dropout"), *start = found("init_lora_weights");
  const bool has_dropout = !is_neutral("lora_dropout");
  expect("lora_dropout", "a number below 1",
         !has_dropout || (dropout->is_number() && dropout->as_double() > 0 && dropout->as_double() < 1));
  // PiSSA, OLoRA, CorDA and LoftQ take the start of the adapters out of the model's own weights
  const bool leaves_base = start == nullptr || start->is_null() || start->is_bool() || *start == io::Json("gaussian") ||
                           *start == io::Json("orthogonal") || *start == io::Json("eva");
  expect("init_lora_weights",
         "true, false, gaussian, orthogonal or eva, which leave the model's own weights as they are", leaves_base);
  read_modules(found("target_modules") != nullptr ? *found("target_modules") : io::Json(), path, config.lora, faults);
  faults.raise_if_any(fmt::format("{}: the adapter cannot be used", folder));
  config.lora.rank = rank->as_int();
  config.lora.alpha = alpha->as_double();
  if (has_dropout) config.dropout = dropout->as_double();
  if (const io::Json* base = found("base_model_name_or_path"); base != nullptr && base->is_string()) {
    config.base_model = base->as_string();
  }
  return config;
}

std::string adapter_base(const std::string& folder) {
  const std::string base = load_adapter_config(folder).base_model, path = adapter_config_path(folder);
  const auto fail = [&](const std::string& found) {
    throw Error(
        fmt::format("{}: base_model_name_or_path: expected the folder of the model that the adapter belongs to, "
                    "found {}",
                    path, found),
        "write the folder of that model there");
  };
  if (base.empty()) fail("none");
  if (!io::is_folder(base) && !io::is_gguf(base)) fail(fmt::format("{}, which is no folder here", base));
  if (is_adapter_folder(base)) fail(fmt::format("{}, which is an adapter itself", base));
  return base;
}

void load_adapter(kernels::Context& ctx, Decoder& decoder, const std::string& folder) {
  const io::SafetensorsReader file(tensors_path(folder));
  io::Faults faults;
  std::set<std::string> known;
  for (const Parameter& parameter : decoder.adapters()) {
    const Piece& piece = parameter.pieces().front();
    const std::vector<int64_t> shape = parameter.spec().shape(piece);
    known.insert(piece.name);
    const io::StoredTensor* tensor = file.find(piece.name);
    if (tensor != nullptr && tensor->shape == shape) continue;
    faults.add(fmt::format("{}: tensor {}: expected shape {}, found {}", tensors_path(folder), piece.name,
                           io::shape_text(shape), tensor != nullptr ? io::shape_text(tensor->shape) : "none"));
  }
  for (const io::StoredTensor& tensor : file.tensors()) {
    if (known.contains(tensor.name)) continue;
    faults.add(fmt::format("{}: tensor {}: expected no such tensor", tensors_path(folder), tensor.name));
  }
  faults.raise_if_any(fmt::format("{}: the adapter does not belong to this model", folder),
                      "target_modules, r and the model have to be those that it was trained with");
  for (Parameter& parameter : decoder.adapters()) {
    const io::StoredTensor& tensor = file.at(parameter.pieces().front().name);
    parameter.fill(ctx, [&](int64_t first_row, int64_t rows, float* out) {
      io::read_floats(tensor, first_row * parameter.cols(), rows * parameter.cols(), out);
    });
  }
  file.check_unchanged();
}

void save_adapter(const Decoder& decoder, const std::string& folder, const std::string& base_model,
                  const std::string& source_folder) {
  const LoraConfig& lora = decoder.lora();
  io::SafetensorsWriter writer;
  for (const Parameter& parameter : decoder.adapters()) {
    const Piece& piece = parameter.pieces().front();
    writer.add(piece.name, parameter.spec().shape(piece), io::StoredType::f32,
               [&parameter](int64_t begin, int64_t size, float* out) { parameter.read(begin, size, out); });
  }
  writer.write(tensors_path(folder));
  io::Json modules = io::Json::array();
  for (const std::string& module : lora.modules) modules.push_back(module);
  const auto alpha = static_cast<int64_t>(lora.alpha);
  const bool is_whole = static_cast<double>(alpha) == lora.alpha;
  const std::string named =
      io::exists(base_model) ? std::filesystem::absolute(base_model).lexically_normal().string() : base_model;
  io::write_json(adapter_config_path(folder),
                 io::Json::object({{"peft_type", "LORA"},
                                   {"task_type", "CAUSAL_LM"},
                                   {"base_model_name_or_path", named},
                                   {"r", lora.rank},
                                   {"lora_alpha", is_whole ? io::Json(alpha) : io::Json(lora.alpha)},
                                   {"lora_dropout", 0.0},
                                   {"target_modules", std::move(modules)},
                                   {"bias", "none"},
                                   {"fan_in_fan_out", false},
                                   {"init_lora_weights", true},
                                   {"inference_mode", true},
                                   {"modules_to_save", nullptr}}));
  save_companions(decoder.config(), folder, source_folder);
}

}  // namespace hone::weights
