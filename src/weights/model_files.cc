#include "weights/model_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/file.h"
#include "io/json.h"
#include "weights/adapter_folder.h"
#include "weights/gguf_tensors.h"
#include "weights/hf_config.h"
#include "weights/unexpected_tensor.h"

namespace hone::weights {

namespace {

constexpr const char* kOtherFormats[] = {"pytorch_model.bin", "pytorch_model.bin.index.json", "tf_model.h5",
                                         "flax_model.msgpack"};

std::string no_files(const std::string& folder) {
  std::string found = "neither";
  if (is_adapter_folder(folder)) {
    found = "an adapter: name the model that it belongs to, and the adapter as lora_adapter_path to train on with it";
  }
  for (const char* name : kOtherFormats) {
    if (io::exists(io::join_path(folder, name))) found = fmt::format("{}, which is not read", name);
  }
  return fmt::format("{}: expected model.safetensors or model.safetensors.index.json, found {}", folder, found);
}

bool is_float(io::StoredType type) {
  return type == io::StoredType::f32 || type == io::StoredType::bf16 || type == io::StoredType::f16;
}

}  // namespace

ModelFiles::ModelFiles(const std::string& folder, const ModelConfig& config, io::Faults& faults) {
  const std::string single = io::join_path(folder, "model.safetensors");
  if (io::is_gguf(folder)) {
    list_ = folder;
    open_gguf(folder, config, faults);
  } else if (io::exists(single)) {
    list_ = single;
    open(single, faults);
  } else if (io::exists(single + ".index.json")) {
    list_ = single + ".index.json";
    open_index(folder, faults);
  } else {
    list_ = folder;
    faults.add(no_files(folder));
  }
}

void ModelFiles::open(const std::string& path, io::Faults& faults) {
  try {
    files_.emplace_back(path);
  } catch (const Error& error) {
    faults.add(error.what());
    return;
  }
  for (const io::StoredTensor& tensor : files_.back().tensors()) {
    tensors_.push_back(
        {tensor.name, tensor.file, tensor.shape, tensor.size, tensor.type,
         [&tensor](int64_t begin, int64_t size, float* out) { io::read_floats(tensor, begin, size, out); }});
    const auto [other, fresh] = by_name_.emplace(tensor.name, &tensors_.back());
    if (!fresh) {
      faults.add(fmt::format("{}: tensor {}: expected once, found in {} too", path, tensor.name, other->second->file));
    }
  }
}

void ModelFiles::open_gguf(const std::string& path, const ModelConfig& config, io::Faults& faults) {
  try {
    gguf_ = std::make_unique<io::GgufReader>(path, io::GgufLists::pass_over);
  } catch (const Error& error) {
    return faults.add(error);
  }
  std::vector<std::string> lost;
  for (WeightTensor& tensor : gguf_tensors(gguf_->content(), config, path, faults, lost)) {
    tensors_.push_back(std::move(tensor));
    by_name_.emplace(tensors_.back().name, &tensors_.back());
  }
  lost_.insert(lost.begin(), lost.end());
}

void ModelFiles::check_unchanged() const {
  for (const io::SafetensorsReader& file : files_) file.check_unchanged();
  if (gguf_ != nullptr) gguf_->check_unchanged();
}

void ModelFiles::open_index(const std::string& folder, io::Faults& faults) {
  std::map<std::string, std::vector<std::string>> shards;  // file -> tensors, as the index has it
  try {
    for (auto& [tensor, file] : io::parse_safetensors_index(io::read_json(list_), list_, faults)) {
      if (file.empty()) {
        lost_.insert(tensor);
      } else {
        shards[file].push_back(tensor);
      }
    }
  } catch (const Error& error) {
    faults.add(error.what());
    return;
  }
  for (const auto& [file, tensors] : shards) {
    const std::string path = io::join_path(folder, file);
    const size_t before = files_.size();
    if (std::filesystem::is_directory(path)) {
      faults.add(fmt::format("{}: expected the shard {} to be a file, found a folder", list_, file));
    } else if (io::exists(path)) {
      open(path, faults);
    } else {
      faults.add(fmt::format("{}: expected the shard {} with {} tensors ({} ...), found no such file", list_, file,
                             tensors.size(), tensors.front()));
    }
    if (files_.size() == before) {
      lost_.insert(tensors.begin(), tensors.end());
      continue;
    }
    const std::set<std::string> listed(tensors.begin(), tensors.end());
    for (const std::string& name : listed) {
      if (files_.back().find(name) != nullptr) continue;
      faults.add(fmt::format("{}: tensor {}: expected, as {} says, found none", path, name, list_));
      lost_.insert(name);
    }
    for (const io::StoredTensor& tensor : files_.back().tensors()) {
      if (listed.contains(tensor.name)) continue;
      faults.add(fmt::format("{}: tensor {}: expected in {}, found no entry", path, tensor.name, list_));
    }
  }
}

const WeightTensor* ModelFiles::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const WeightTensor& ModelFiles::at(const std::string& name) const {
  const WeightTensor* tensor = find(name);
  HONE_CHECK(tensor != nullptr, "tensor {} is not in {}", name, list_);
  return *tensor;
}

namespace {

std::string unfitting(const ModelFiles& files, const ParameterSpec& spec, const Piece& piece) {
  const WeightTensor* tensor = files.find(piece.name);
  const std::vector<int64_t> shape = spec.shape(piece);
  if (tensor == nullptr) {
    if (files.is_lost(piece.name)) return "";
    return fmt::format("{}: tensor {}: expected shape {}, found no such tensor{}", files.list(), piece.name,
                       io::shape_text(shape), why_missing(piece.name));
  }
  if (tensor->shape != shape) {
    return fmt::format("{}: tensor {}: expected shape {}, found {}", tensor->file, piece.name, io::shape_text(shape),
                       io::shape_text(tensor->shape));
  }
  if (is_float(tensor->type)) return "";
  return fmt::format("{}: tensor {}: expected F32, BF16 or F16, found {}", tensor->file, piece.name,
                     io::name(tensor->type));
}

}  // namespace

void check_tensors(const ModelFiles& files, const ModelConfig& config, io::Faults& faults) {
  const ModelLayout layout(config);
  std::vector<std::string> wrong, unexpected;
  std::set<std::string> known;
  for (const ParameterSpec& spec : layout.parameters) {
    for (const Piece& piece : spec.pieces) {
      known.insert(piece.name);
      if (std::string fault = unfitting(files, spec, piece); !fault.empty()) wrong.push_back(std::move(fault));
    }
  }
  for (const WeightTensor& tensor : files.tensors()) {
    if (known.contains(tensor.name) || is_ignored(tensor.name)) continue;
    if (config.tie_word_embeddings && !config.value_head && tensor.name == kLanguageHead) continue;
    unexpected.push_back(fmt::format("{}: tensor {}: expected no such tensor, found {}: {}", tensor.file, tensor.name,
                                     io::shape_text(tensor.shape), why_unexpected(tensor.name, config)));
  }
  // by turns: a long list is cut when it is shown, and either kind may be the one that explains the other
  for (size_t i = 0; i < std::max(wrong.size(), unexpected.size()); ++i) {
    if (i < unexpected.size()) faults.add(std::move(unexpected[i]));
    if (i < wrong.size()) faults.add(std::move(wrong[i]));
  }
}

ModelFiles open_model_files(const std::string& folder, const ModelConfig& config) {
  io::Faults faults;
  ModelFiles files(folder, config, faults);
  if (files.is_open()) check_tensors(files, config, faults);
  if (faults.empty()) return files;
  const std::string defaulted = defaulted_sizes(folder);
  faults.raise_if_any(
      fmt::format("{}: the weight files do not hold the model of config.json", folder),
      fmt::format("fetch damaged or missing files again; else compare config.json with them{}",
                  defaulted.empty() ? "" : fmt::format(" (it does not give {}: the family's defaults)", defaulted)));
  return files;
}

ModelFiles open_value_files(const std::string& folder, const ModelConfig& config) {
  io::Faults ignored;  // open_model_files tells of them
  ModelConfig own = config;
  own.value_head = ModelFiles(folder, config, ignored).find(kValueHead) != nullptr;
  return open_model_files(folder, own);
}

void check_model_files(const std::string& folder) { open_model_files(folder, load_config(folder)); }

}  // namespace hone::weights
