#include "models/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/fixed_math.h"

namespace hone {

namespace {

// Long waves are slowed by `factor`, short ones stay, those between change smoothly.
double llama3_frequency(double f, const RopeScaling& s) {
  const double wavelength = 2 * std::numbers::pi / f;
  if (wavelength < s.original_length / s.high_freq_factor) return f;
  if (wavelength > s.original_length / s.low_freq_factor) return f / s.factor;
  const double smooth = (s.original_length / wavelength - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor);
  return (1 - smooth) * f / s.factor + smooth * f;
}

// Pairs between which yarn goes over from the plain to the slowed frequency: those that turn beta_fast and beta_slow
// times within the original length.
struct Ramp {
  double low, high;
  double at(double j) const { return std::clamp((j - low) / (high - low), 0.0, 1.0); }
};

Ramp yarn_ramp(const ModelConfig& config) {
  const RopeScaling& s = config.rope_scaling;
  const double width = static_cast<double>(config.head_dim);
  const auto pair_of = [&](double turns) {
    return width * fixed::log(s.original_length / (2 * std::numbers::pi * turns)) /
           (2 * fixed::log(static_cast<double>(config.rope_theta)));
  };
  Ramp ramp{pair_of(s.beta_fast), pair_of(s.beta_slow)};
  if (s.truncate) ramp = {std::floor(ramp.low), std::ceil(ramp.high)};
  ramp = {std::max(ramp.low, 0.0), std::min(ramp.high, width - 1)};
  if (ramp.low == ramp.high) ramp.high += 0.001;
  return ramp;
}

}  // namespace

std::vector<double> exact_rotary_frequencies(const ModelConfig& config) {
  const RopeScaling& s = config.rope_scaling;
  const Ramp ramp = s.form == RopeScaling::Form::yarn ? yarn_ramp(config) : Ramp{0, 1};
  std::vector<double> inv_freq;
  for (int64_t j = 0; j < config.head_dim / 2; ++j) {
    const double exponent = 2.0 * static_cast<double>(j) / static_cast<double>(config.head_dim);
    double f = 1.0 / fixed::pow(static_cast<double>(config.rope_theta), exponent);
    switch (s.form) {
      case RopeScaling::Form::none:
        break;
      case RopeScaling::Form::linear:
        f /= s.factor;
        break;
      case RopeScaling::Form::llama3:
        f = llama3_frequency(f, s);
        break;
      case RopeScaling::Form::yarn: {
        const double slowed = ramp.at(static_cast<double>(j));
        f = f / s.factor * slowed + f * (1 - slowed);
        break;
      }
    }
    inv_freq.push_back(f);
  }
  return inv_freq;
}

std::vector<float> rotary_frequencies(const ModelConfig& config) {
  std::vector<float> rounded;
  for (const double f : exact_rotary_frequencies(config)) rounded.push_back(static_cast<float>(f));
  return rounded;
}

float rotary_attention_factor(const ModelConfig& config) {
  const RopeScaling& s = config.rope_scaling;
  return s.form == RopeScaling::Form::yarn ? static_cast<float>(s.attention_factor) : 1.0f;
}

double yarn_attention_factor(double factor, double mscale, double mscale_all_dim) {
  const auto ms = [&](double scale) { return factor <= 1 ? 1.0 : 0.1 * scale * fixed::log(factor) + 1.0; };
  return mscale != 0 && mscale_all_dim != 0 ? ms(mscale) / ms(mscale_all_dim) : ms(1.0);
}

}  // namespace hone
