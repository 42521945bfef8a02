#include "models/rope.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

ModelConfig rope_config(int64_t head_dim, float theta) {
  ModelConfig config;
  config.head_dim = head_dim;
  config.rope_theta = theta;
  return config;
}

// Numbers of the formulas of Llama 3.2 and of a Qwen model card, computed apart from this code in double: ten digits,
// and a float holds seven.
void expect_near(const std::vector<float>& got, const std::vector<std::pair<size_t, double>>& want) {
  for (const auto& [pair, value] : want) EXPECT_NEAR(got[pair], value, value * 0x1p-23) << pair;
}

TEST(Rope, Llama3SlowsLongWavesAndSmoothsBetween) {
  ModelConfig config = rope_config(64, 5e5f);
  config.rope_scaling = {.form = RopeScaling::Form::llama3, .factor = 32, .original_length = 8192};
  config.rope_scaling.low_freq_factor = 1;
  config.rope_scaling.high_freq_factor = 4;
  expect_near(rotary_frequencies(config), {{14, 3.211445995e-3},
                                           {15, 1.290547928e-3},
                                           {16, 4.295567966e-4},
                                           {17, 9.708287803e-5},
                                           {18, 1.946163818e-5},
                                           {31, 9.418306725e-8}});
  EXPECT_EQ(rotary_attention_factor(config), 1.0f);
}

TEST(Rope, YarnRampsFromPlainToSlowedAndScalesAttention) {
  ModelConfig config = rope_config(128, 1e6f);
  config.rope_scaling = {.form = RopeScaling::Form::yarn, .factor = 4, .original_length = 32768};
  config.rope_scaling.attention_factor = yarn_attention_factor(4, 0, 0);
  expect_near(
      rotary_frequencies(config),
      {{20, 1.333521432e-2}, {23, 6.978305849e-3}, {30, 1.064360981e-3}, {40, 4.445698525e-5}, {63, 3.102344402e-7}});
  EXPECT_NEAR(rotary_attention_factor(config), 1.138629436, 1e-7);
  EXPECT_DOUBLE_EQ(yarn_attention_factor(40, 0.707, 0.707), 1.0);
  EXPECT_NEAR(yarn_attention_factor(40, 1.0, 0.5), (0.1 * std::log(40) + 1) / (0.05 * std::log(40) + 1), 1e-12);
  EXPECT_EQ(yarn_attention_factor(0.5, 0, 0), 1.0);
}

TEST(Rope, LinearDividesAndNoneLeavesAsItIs) {
  ModelConfig config = rope_config(8, 1e4f);
  const std::vector<float> plain = rotary_frequencies(config);
  expect_near(plain, {{0, 1.0}, {1, 0.1}, {2, 0.01}, {3, 0.001}});
  config.rope_scaling = {.form = RopeScaling::Form::linear, .factor = 4};
  const std::vector<float> slowed = rotary_frequencies(config);
  for (size_t j = 0; j < plain.size(); ++j) EXPECT_EQ(slowed[j], plain[j] / 4);
}

}  // namespace
}  // namespace hone
