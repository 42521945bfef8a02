#include "kernels/adamw.h"

#include "kernels/reference/row_operations.h"
#include "kernels/row_test_cases.h"

namespace hone::kernels {
namespace {

using namespace testing;

void step(Context& ctx, Matrix& w, Matrix& m, Matrix& v, Matrix& g, const AdamW& options) {
  adamw_range(ctx.target, w.f32().data, m.f32().data, v.f32().data, g.f32().data, w.f32().size(), options);
}

TEST(AdamW, ThreeStepsEqualPlainLoops) {
  for (const int64_t size : {0, 1, 15, 16, 17, 33, 1000, 70001}) {
    AdamW options{
        .lr = 1e-2f, .beta1 = 0.9f, .beta2 = 0.99f, .eps = 1e-8f, .weight_decay = 0.1f, .gradient_scale = 0.5f};
    Matrix w = Matrix::row(size, 1), g = Matrix::row(size, 2);
    std::vector<double> wd = w.doubles(), md(wd.size()), vd(wd.size());
    const std::vector<float> got = same_everywhere([&](Context& ctx) {
      Matrix weights = w, m = Matrix::row(size, 0, 0.0f), v = Matrix::row(size, 0, 0.0f);
      for (options.step = 1; options.step <= 3; ++options.step) {
        step(ctx, weights, m, v, g, options);
      }
      std::vector<float> out;
      append(out, weights.f32());
      append(out, m.f32());
      append(out, v.f32());
      weights.expect_guards();
      return out;
    });
    std::vector<double> gd = g.doubles();
    for (options.step = 1; options.step <= 3; ++options.step) {
      reference::adamw_step(rows_of(wd, 1), rows_of(md, 1), rows_of(vd, 1), rows_of(gd, 1), options);
    }
    // A step m / sqrt(v) is about 1 with some 12 roundings, times lr; the weight itself rounds once a step.
    for (size_t i = 0; i < wd.size(); ++i) {
      EXPECT_NEAR(got[i], wd[i], 3 * (std::abs(wd[i]) + options.lr * 15) * kUnit);
      EXPECT_NEAR(got[wd.size() + i], md[i], std::abs(md[i]) * 12 * kUnit);
      EXPECT_NEAR(got[2 * wd.size() + i], vd[i], vd[i] * 15 * kUnit);
    }
  }
}

TEST(AdamW, AZeroLearningRateLeavesTheWeights) {
  Context ctx(1);
  Matrix w = Matrix::row(40, 1), before = w, g = Matrix::row(40, 2), m = Matrix::row(40, 0, 0), v = m;
  step(ctx, w, m, v, g, {.lr = 0.0f, .weight_decay = 0.1f});
  EXPECT_EQ(w.doubles(), before.doubles());
}

TEST(SumOfSquares, IsTheSameEverywhereAndGoodToDouble) {
  for (const int64_t size : {0, 1, 15, 16, 17, 33, 32768, 32769, 200003}) {
    Matrix g = Matrix::row(size, 1);
    double expected = 0.0;
    for (const double x : g.doubles()) expected += x * x;
    double first = -1.0;
    for (const auto& ctx : contexts()) {
      const double got = sum_of_squares(*ctx, g.f32());
      if (first < 0.0) first = got;
      EXPECT_EQ(got, first) << ctx->target.name;
    }
    EXPECT_NEAR(first, expected, expected * 1e-12);
  }
}

TEST(SumOfSquares, BadNumbersShowAndTheLargestFloatsDoNotOverflow) {
  for (const auto& ctx : contexts()) {
    std::vector<float> g(50, 3e38f);
    EXPECT_TRUE(std::isfinite(sum_of_squares(*ctx, {g.data(), 50})));
    g[49] = -kInf;
    EXPECT_TRUE(std::isinf(sum_of_squares(*ctx, {g.data(), 50})));
    g[3] = kNan;
    EXPECT_TRUE(std::isnan(sum_of_squares(*ctx, {g.data(), 50})));
  }
}

}  // namespace
}  // namespace hone::kernels
