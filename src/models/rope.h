// Rotary frequencies of a model under its scaling: none, linear (Chen et al. 2023), llama3 (Llama 3.1) or yarn (Peng et
// al., "YaRN", 2023).   R = head_dim / 2 rotary pairs.
#pragma once

#include <vector>

#include "models/model_config.h"

namespace hone {

// Radians a position, for each pair; computed in double with our own functions, rounded to float.
std::vector<float> rotary_frequencies(const ModelConfig& config);
// The same before they are rounded.
std::vector<double> exact_rotary_frequencies(const ModelConfig& config);

// What multiplies cos and sin, so that attention scores grow by its square.
float rotary_attention_factor(const ModelConfig& config);

// yarn's own factor where config.json names none: ms(factor, mscale) / ms(factor, mscale_all_dim), or ms(factor, 1)
// when either is 0, with ms(x, s) = 0.1 s ln(x) + 1 above 1.
double yarn_attention_factor(double factor, double mscale, double mscale_all_dim);

}  // namespace hone
