// Advantages of a group of answers to one prompt.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace hone::algorithms {

struct GroupAdvantages {
  std::vector<float> advantages;  // one for each score; 0 where the score is absent
  bool flat = false;              // all present scores are equal: advantages are exactly 0
  int num_absent = 0;
};

// GRPO (Shao et al. 2024, DeepSeekMath, section 4.1.2): (score - mean) / (std + 1e-6) with the unbiased standard
// deviation over the group's present scores; without norm_by_std (Dr. GRPO, Liu et al. 2025) score - mean.
// Fewer than two present scores compare with nothing: advantage 0.
GroupAdvantages grpo_advantages(std::span<const std::optional<float>> scores, bool norm_by_std);

}  // namespace hone::algorithms
