// LoRA (Hu et al. 2021): linear layers y = W x + (alpha / rank) B (A x) whose W stays as it is. From the configuration
// alone: which layers have adapters, and their parameters. Names are those of PEFT. Left out: dropout, other scalings.
#pragma once

#include <string>
#include <vector>

#include "models/layout.h"

namespace hone {

// The linear layers that may have adapters, by the last part of their names, in the order of a layer.
inline constexpr const char* kLoraModules[] = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                               "gate_proj", "up_proj", "down_proj"};

inline constexpr double kLargestLoraAlpha = 1e6;  // beyond it nothing but a mistake is scaled

struct LoraConfig {
  int64_t rank = 0;  // 0: no adapters
  double alpha = 16;
  std::vector<std::string> modules;  // of kLoraModules, in their order

  float scale() const { return static_cast<float>(alpha / static_cast<double>(rank)); }
  bool operator==(const LoraConfig&) const = default;
};

// The modules named by PEFT's target_modules ("all-linear", or names) without those of exclude_modules. False when a
// name is none of kLoraModules, or none is left.
bool set_modules(LoraConfig& config, const std::vector<std::string>& targets, const std::vector<std::string>& excluded);

// The adapter of a piece of a linear layer: indices into the list of adapter parameters.
struct LoraPiece {
  size_t a = 0, b = 0;        // A [rank, inputs], B [outputs, rank]
  int64_t row = 0, rows = 0;  // outputs of the piece in its parameter
};

struct LoraLayout {
  LoraLayout() = default;
  LoraLayout(const ModelLayout& model, const LoraConfig& config);

  std::vector<ParameterSpec> parameters;
  std::vector<std::vector<LoraPiece>> pieces;  // by the model's parameter; empty where it has none

  int64_t num_parameters() const;
};

}  // namespace hone
