#include "models/lora.h"

#include <algorithm>

#include "core/error.h"

namespace hone {

namespace {

// "self_attn.q_proj" of "model.layers.0.self_attn.q_proj.weight", and what stands before ".weight".
std::string module_path(const std::string& tensor) {
  constexpr std::string_view kSuffix = ".weight";
  return tensor.ends_with(kSuffix) ? tensor.substr(0, tensor.size() - kSuffix.size()) : std::string();
}

}  // namespace

bool set_modules(LoraConfig& config, const std::vector<std::string>& targets,
                 const std::vector<std::string>& excluded) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const std::vector<std::string> all(std::begin(kLoraModules), std::end(kLoraModules));
  const bool is_all = targets == std::vector<std::string>{"all-linear"};
  config.modules.clear();
  for (const std::string& module : all) {
    if ((is_all || has(targets, module)) && !has(excluded, module)) config.modules.push_back(module);
  }
  const auto is_known = [&](const std::string& name) { return has(all, name); };
  return (is_all || std::all_of(targets.begin(), targets.end(), is_known)) &&
         std::all_of(excluded.begin(), excluded.end(), is_known) && !config.modules.empty();
}

LoraLayout::LoraLayout(const ModelLayout& model, const LoraConfig& config) : pieces(model.parameters.size()) {
  if (config.rank == 0) return;
  HONE_CHECK(config.rank > 0, "rank {}", config.rank);
  for (size_t p = 0; p < model.parameters.size(); ++p) {
    const ParameterSpec& spec = model.parameters[p];
    for (const Piece& piece : spec.pieces) {
      const std::string path = module_path(piece.name);
      const std::string module = path.substr(path.rfind('.') + 1);
      if (std::find(config.modules.begin(), config.modules.end(), module) == config.modules.end()) continue;
      const std::string prefix = "base_model.model." + path;
      const auto matrix = [&](const char* name, int64_t rows, int64_t cols) {
        parameters.push_back({{{prefix + name, 0, rows}}, cols, ParameterKind::matrix, true});
        return parameters.size() - 1;
      };
      const size_t a = matrix(".lora_A.weight", config.rank, spec.cols);
      pieces[p].push_back({a, matrix(".lora_B.weight", piece.rows, config.rank), piece.row, piece.rows});
    }
  }
}

int64_t LoraLayout::num_parameters() const {
  int64_t sum = 0;
  for (const ParameterSpec& spec : parameters) sum += spec.rows() * spec.cols;
  return sum;
}

}  // namespace hone
