// The families of models: their names in a config.json and what each takes where it is silent. Private to weights/.
#pragma once

#include <cstdint>

#include "models/model_config.h"

namespace hone::weights {

struct FamilyRow {
  Family family;
  const char* architecture;
  int64_t vocab_size, intermediate_size, max_position_embeddings;
};

// In the order of Family.
constexpr FamilyRow kFamilies[] = {
    {Family::llama, "LlamaForCausalLM", 32000, 11008, 2048},
    {Family::qwen2, "Qwen2ForCausalLM", 151936, 22016, 32768},
    {Family::qwen3, "Qwen3ForCausalLM", 151936, 22016, 32768},
};

inline const FamilyRow& row(Family family) { return kFamilies[static_cast<size_t>(family)]; }

}  // namespace hone::weights
