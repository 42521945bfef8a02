// Moments in fewer bits follow those in float32: on a problem with a known minimum, noisy gradients and scales that
// differ by four orders of magnitude within a block.
#include "train/moments.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/random.h"

namespace hone {
namespace {

constexpr int64_t kRows = 7, kCols = 300;  // a block and a part of one

Parameter make_parameter(kernels::Context& ctx) {
  Parameter parameter({{{"w", 0, kRows}}, kCols, ParameterKind::matrix, true}, DType::f32, true);
  parameter.fill(ctx, [](int64_t first, int64_t rows, float* out) {
    for (int64_t i = 0; i < rows * kCols; ++i) {
      out[i] = random_normal({1, Stream::test}, static_cast<uint64_t>(first * kCols + i), 0, 0);
    }
  });
  return parameter;
}

// Weights after `steps` of AdamW towards 0 under noise; a function of the form alone.
Buffer<float> weights_after(MomentForm form, int64_t steps, int threads, const kernels::cpu::Target& target) {
  kernels::Context ctx(threads, target);
  Parameter parameter = make_parameter(ctx);
  Moments moments(parameter, form, 3);
  std::vector<float> gradient(static_cast<size_t>(parameter.size()));
  for (int64_t step = 1; step <= steps; ++step) {
    const Buffer<float> w = parameter.values();
    for (int64_t i = 0; i < w.size(); ++i) {
      const float scale = std::exp2(static_cast<float>(i * 7 % 15) - 15.0f);
      const float noise = random_normal({2, Stream::test}, static_cast<uint64_t>(i), static_cast<uint32_t>(step), 0);
      gradient[static_cast<size_t>(i)] = scale * (w[i] + noise);
    }
    kernels::AdamW adamw{.lr = 3e-3f, .weight_decay = 0.01f, .step = step};
    parameter.update(ctx, [&](int64_t first_row, View<float> rows) {
      moments.update(ctx.target, first_row, rows, gradient.data(), adamw);
    });
  }
  return parameter.values();
}

double distance(const Buffer<float>& a, const Buffer<float>& b) {
  double sum = 0;
  for (int64_t i = 0; i < a.size(); ++i) sum += std::pow(double{a[i]} - double{b[i]}, 2);
  return std::sqrt(sum);
}

// What follows is the path, not the end: the distance after 200 steps, in lengths of the way that float32 has gone.
TEST(Moments, InFewerBitsFollowFloat32WithinABoundOver200Steps) {
  const kernels::cpu::Target& target = kernels::cpu::default_target();
  const Buffer<float> start = weights_after(MomentForm::f32, 0, 1, target);
  const Buffer<float> exact = weights_after(MomentForm::f32, 200, 1, target);
  const double way = distance(exact, start);
  EXPECT_LE(distance(weights_after(MomentForm::bf16, 200, 1, target), exact) / way, 0.01);
  EXPECT_LE(distance(weights_after(MomentForm::bits8, 200, 1, target), exact) / way, 0.1);
}

TEST(Moments, AreTheSameBitsForAnyThreadsOnEveryTarget) {
  for (const MomentForm form : {MomentForm::f32, MomentForm::bf16, MomentForm::bits8}) {
    const Buffer<float> expected = weights_after(form, 5, 1, kernels::cpu::default_target());
    for (const kernels::cpu::Target& target : kernels::cpu::all_targets()) {
      if (!target.supported()) continue;
      const Buffer<float> got = weights_after(form, 5, 3, target);
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), static_cast<size_t>(expected.size_bytes())), 0)
          << name(form) << " " << target.name;
    }
  }
}

// A gradient that comes once and then stays away: the second moment has to fall by a thousandth a step, which no
// rounding to the nearest of so few bits would do.
TEST(Moments, ASecondMomentOfFewBitsDecays) {
  for (const MomentForm form : {MomentForm::bf16, MomentForm::bits8}) {
    kernels::Context ctx(1);
    Parameter parameter = make_parameter(ctx);
    Moments moments(parameter, form, 1);
    std::vector<float> gradient(static_cast<size_t>(parameter.size()), 1.0f);
    for (int64_t step = 1; step <= 500; ++step) {
      parameter.update(ctx, [&](int64_t first_row, View<float> rows) {
        moments.update(ctx.target, first_row, rows, gradient.data(), {.lr = 0, .step = step});
      });
      // one element of each block goes on, and holds its scale
      for (int64_t i = 0; i < parameter.size(); ++i) gradient[static_cast<size_t>(i)] = i % 50 == 0 ? 1.0f : 0.0f;
    }
    const Buffer<float> second = moments.second();
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < second.size(); ++i) {
      if (i % 50 == 0) continue;
      sum += second[i];
      ++count;
    }
    const double expected = 0.001 * std::pow(0.999, 499);
    EXPECT_NEAR(sum / static_cast<double>(count), expected, 0.03 * expected) << name(form);
  }
}

// A gradient that comes once and leaves a second moment far below its block's largest: rounded away, the next updates
// would be divided by eps alone.
TEST(Moments, ASmallGradientBesideALargeOneIsNeverDividedByNothing) {
  kernels::Context ctx(1);
  Parameter parameter = make_parameter(ctx);
  const Buffer<float> before = parameter.values();
  Moments moments(parameter, MomentForm::bits8, 1);
  // a second moment of 2^-36 of its block's largest, of which the smallest code is 2^-34; a first of the smallest code
  std::vector<float> gradient(static_cast<size_t>(parameter.size()), 1e3f * 0x1p-18f);
  for (int64_t i = 0; i < parameter.size(); i += 100) gradient[static_cast<size_t>(i)] = 1e3f;
  for (int64_t step = 1; step <= 20; ++step) {
    parameter.update(ctx, [&](int64_t first_row, View<float> rows) {
      moments.update(ctx.target, first_row, rows, gradient.data(), {.lr = 1e-3f, .eps = 1e-30f, .step = step});
    });
    std::fill(gradient.begin(), gradient.end(), 0.0f);
  }
  const Buffer<float> after = parameter.values();
  // Adam's step is at most lr * (1 - beta1) / sqrt(1 - beta2) = 3.2 lr where all of a moment comes in one step
  for (int64_t i = 0; i < after.size(); ++i) ASSERT_LE(std::abs(after[i] - before[i]), 20 * 3.2e-3f) << i;
}

// Files have the parameter's own shape: a bias is a column.
TEST(Moments, OfEveryKindAreStoredInTheParametersShapeAndComeBack) {
  const ParameterSpec specs[] = {{{{"w", 0, 3}}, 5, ParameterKind::matrix, true},
                                 {{{"n", 0, 1}}, 5, ParameterKind::norm, false},
                                 {{{"b", 0, 2}, {"c", 2, 3}}, 1, ParameterKind::bias, false}};
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("hone-moments-{}", ::getpid())).string();
  for (const MomentForm form : {MomentForm::f32, MomentForm::bf16, MomentForm::bits8}) {
    for (const ParameterSpec& spec : specs) {
      const Parameter parameter(spec, DType::f32, true);
      Moments moments(parameter, form, 1), again(parameter, form, 1);
      std::vector<float> w(static_cast<size_t>(parameter.size())), gradient(w.size(), 0.5f);
      const View<float> rows(w.data(), parameter.rows(), parameter.cols());
      moments.update(kernels::cpu::default_target(), 0, rows, gradient.data(), {.lr = 1e-3f, .step = 1});
      io::SafetensorsWriter writer;
      moments.add_to(writer, "x");
      writer.write(path);
      const io::SafetensorsReader file(path);
      for (const char* name : {"x.m", "x.v"}) {
        EXPECT_EQ(file.at(name).shape, (std::vector<int64_t>{parameter.rows(), parameter.cols()})) << name;
      }
      again.read_from(file, "x");
      const Buffer<float> expected = moments.second(), got = again.second();
      EXPECT_GT(got[0], 0.0f);
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), static_cast<size_t>(got.size_bytes())), 0);
    }
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace hone
