#include "kernels/rms_norm.h"

#include "kernels/reference/row_operations.h"
#include "kernels/row_test_cases.h"

namespace hone::kernels {
namespace {

using namespace testing;
constexpr float kNormEps = 1e-6f;

TEST(RmsNorm, ForwardEqualsPlainLoops) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const int64_t width : widths()) {
      Matrix x(3, width, 1, 2.0f), w = Matrix::row(width, 2);
      const std::vector<float> got = same_everywhere([&](Context& ctx) {
        Output y(dtype, 3, width);
        std::vector<float> rrms(3), out;
        rms_norm_forward(ctx, y.view(), {rrms.data(), 3}, x.f32(), w.f32(), kNormEps);
        y.append_to(out);
        out.insert(out.end(), rrms.begin(), rrms.end());
        return out;
      });
      std::vector<double> xd = x.doubles(), wd = w.doubles(), y(xd.size()), rrms(3);
      reference::rms_norm_forward(rows_of(y, 3), rows_of(rrms, 1), rows_of(xd, 3), rows_of(wd, 1), kNormEps);
      // The squares add up in lanes of width / 64 + 5 roundings and a tree of 6, halved by the root; division, root,
      // inverse and two products are 6 more.
      const double relative = (static_cast<double>(width) / 128 + 12) * kUnit;
      for (size_t i = 0; i < y.size(); ++i) {
        EXPECT_NEAR(got[i], y[i], std::abs(y[i]) * (relative + rounding(dtype))) << "width " << width;
      }
      for (size_t t = 0; t < 3; ++t) EXPECT_NEAR(got[y.size() + t], rrms[t], rrms[t] * relative);
    }
  }
}

TEST(RmsNorm, BackwardEqualsPlainLoopsAndAddsToTheWeightGradient) {
  for (const int64_t width : widths()) {
    const int64_t tokens = width < 30 ? 3 : 150;  // three tiles of tokens
    Matrix x(tokens, width, 1, 2.0f), w = Matrix::row(width, 2), dy(tokens, width, 3), dres(tokens, width, 4);
    std::vector<double> xd = x.doubles(), wd = w.doubles(), dyd = dy.doubles(), dresd = dres.doubles();
    std::vector<double> y(xd.size()), rrms(static_cast<size_t>(tokens)), dx(xd.size()), dw(wd.size(), 1.0);
    reference::rms_norm_forward(rows_of(y, tokens), rows_of(rrms, 1), rows_of(xd, tokens), rows_of(wd, 1), kNormEps);
    reference::rms_norm_backward(rows_of(dx, tokens), rows_of(dw, 1), rows_of(dyd, tokens), rows_of(dresd, tokens),
                                 rows_of(xd, tokens), rows_of(wd, 1), rows_of(rrms, 1));
    std::vector<float> rrms_f(rrms.begin(), rrms.end());
    const std::vector<float> got = same_everywhere([&](Context& ctx) {
      Matrix dx_f = dres;  // in place: dx is dresidual
      std::vector<float> dw_f(static_cast<size_t>(width), 1.0f), out;
      rms_norm_backward(ctx, dx_f.f32(), {dw_f.data(), width}, dy.f32(), dx_f.f32(), x.f32(), w.f32(),
                        {rrms_f.data(), tokens});
      dx_f.expect_guards();
      append(out, dx_f.f32());
      out.insert(out.end(), dw_f.begin(), dw_f.end());
      return out;
    });
    // Roundings of the sum (width / 64 + 11) and of the rest (10), each of a term no larger than these magnitudes.
    const double units = (static_cast<double>(width) / 64 + 21) * kUnit;
    for (int64_t t = 0; t < tokens; ++t) {
      const double r = rrms[static_cast<size_t>(t)];
      double mean = 0.0;
      for (int64_t i = 0; i < width; ++i) mean += std::abs(dy.f32()(t, i) * w.f32()[i] * x.f32()(t, i)) / double(width);
      for (int64_t i = 0; i < width; ++i) {
        const double size = std::abs(dres.f32()(t, i)) + r * std::abs(dy.f32()(t, i) * w.f32()[i]) +
                            r * r * r * std::abs(x.f32()(t, i)) * mean;
        const size_t at = static_cast<size_t>(t * width + i);
        EXPECT_NEAR(got[at], dx[at], size * units) << "width " << width;
      }
    }
    for (int64_t i = 0; i < width; ++i) {
      double size = 1.0;
      for (int64_t t = 0; t < tokens; ++t) {
        size += std::abs(dy.f32()(t, i) * x.f32()(t, i)) * rrms[static_cast<size_t>(t)];
      }
      // 64 additions in a tile, one for each tile, 4 in a term.
      EXPECT_NEAR(got[xd.size() + static_cast<size_t>(i)], dw[static_cast<size_t>(i)], size * (64 + 3 + 4) * kUnit);
    }
  }
}

TEST(RmsNorm, ReferenceGradientEqualsFiniteDifferences) {
  const int64_t tokens = 2, width = 7;
  Matrix x(tokens, width, 1), w = Matrix::row(width, 2), dy(tokens, width, 3);
  std::vector<double> xd = x.doubles(), wd = w.doubles(), dyd = dy.doubles(), zero(xd.size());
  std::vector<double> y(xd.size()), rrms(2), dx(xd.size()), dw(wd.size());
  const auto loss = [&] {
    reference::rms_norm_forward(rows_of(y, tokens), rows_of(rrms, 1), rows_of(xd, tokens), rows_of(wd, 1), kNormEps);
    double sum = 0.0;
    for (size_t i = 0; i < y.size(); ++i) sum += y[i] * dyd[i];
    return sum;
  };
  loss();
  reference::rms_norm_backward(rows_of(dx, tokens), rows_of(dw, 1), rows_of(dyd, tokens), rows_of(zero, tokens),
                               rows_of(xd, tokens), rows_of(wd, 1), rows_of(rrms, 1));
  for (size_t i = 0; i < xd.size(); ++i) EXPECT_NEAR(slope(xd[i], loss), dx[i], 1e-7);
  for (size_t i = 0; i < wd.size(); ++i) EXPECT_NEAR(slope(wd[i], loss), dw[i], 1e-7);
}

TEST(RmsNorm, ARowDependsOnItselfAloneAndBadNumbersStayInTheirRow) {
  const int64_t width = 45;
  Matrix x(5, width, 1), w = Matrix::row(width, 2);
  x.f32()(1, 7) = kNan;
  x.f32()(3, 0) = kInf;
  for (const auto& ctx : contexts()) {
    Output all(DType::f32, 5, width);
    std::vector<float> rrms(5);
    rms_norm_forward(*ctx, all.view(), {rrms.data(), 5}, x.f32(), w.f32(), kNormEps);
    for (int64_t t = 0; t < 5; ++t) {
      Output alone(DType::f32, 1, width);
      float r = 0;
      rms_norm_forward(*ctx, alone.view(), {&r, 1}, x.f32().slice_rows(t, 1), w.f32(), kNormEps);
      if (t == 1) {
        EXPECT_TRUE(std::isnan(r));
      } else {
        EXPECT_EQ(r, rrms[static_cast<size_t>(t)]);
      }
      EXPECT_EQ(std::isnan(all.view().f32()(t, 0)), t == 1 || t == 3);  // NaN, inf * (1 / inf)
      for (int64_t i = 0; i < width && t != 1 && t != 3; ++i) {
        EXPECT_EQ(alone.view().f32()(0, i), all.view().f32()(t, i));
      }
    }
  }
}

TEST(RmsNorm, NoTokensAreFine) {
  Matrix w = Matrix::row(8, 2);
  std::vector<float> dw(8, 3.0f);
  for (const auto& ctx : contexts()) {
    rms_norm_forward(*ctx, View<float>(nullptr, 0, 8), {nullptr, 0}, {nullptr, 0, 8}, w.f32(), kNormEps);
    rms_norm_backward(*ctx, {nullptr, 0, 8}, {dw.data(), 8}, {nullptr, 0, 8}, {nullptr, 0, 8}, {nullptr, 0, 8}, w.f32(),
                      {nullptr, 0});
  }
  EXPECT_EQ(dw, std::vector<float>(8, 3.0f));
}

}  // namespace
}  // namespace hone::kernels
