#include "kernels/elementwise.h"

#include "kernels/reference/row_operations.h"
#include "kernels/row_test_cases.h"

namespace hone::kernels {
namespace {

using namespace testing;

TEST(Swiglu, ForwardAndBackwardEqualPlainLoops) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const int64_t width : widths()) {
      Matrix gate_up(3, 2 * width, 1, 4.0f), dout(3, width, 2);
      const std::vector<float> got = same_everywhere([&](Context& ctx) {
        Output out(dtype, 3, width), d_gate_up(dtype, 3, 2 * width);
        std::vector<float> all;
        swiglu_forward(ctx, out.view(), gate_up.f32());
        swiglu_backward(ctx, d_gate_up.view(), dout.f32(), gate_up.f32());
        out.append_to(all);
        d_gate_up.append_to(all);
        return all;
      });
      std::vector<double> gud = gate_up.doubles(), dod = dout.doubles(), out(dod.size()), d(gud.size());
      reference::swiglu_forward(rows_of(out, 3), rows_of(gud, 3));
      reference::swiglu_backward(rows_of(d, 3), rows_of(dod, 3), rows_of(gud, 3));
      // exp to 2 units, sum, division, product; the derivative s + g s (1 - s) has terms up to (1 + |g|) s.
      for (size_t i = 0; i < out.size(); ++i) {
        EXPECT_NEAR(got[i], out[i], std::abs(out[i]) * (6 * kUnit + rounding(dtype)));
      }
      for (int64_t t = 0; t < 3; ++t) {
        for (int64_t i = 0; i < 2 * width; ++i) {
          const size_t at = static_cast<size_t>(t * 2 * width + i);
          const double g = gate_up.f32()(t, i % width), s = 1.0 / (1.0 + std::exp(-g));
          const double up = i < width ? gate_up.f32()(t, width + i) : 1.0;
          const double size = std::abs(dout.f32()(t, i % width) * up) * (1.0 + std::abs(g)) * s;
          EXPECT_NEAR(got[out.size() + at], d[at], size * 12 * kUnit + std::abs(d[at]) * rounding(dtype));
        }
      }
    }
  }
}

TEST(Swiglu, ReferenceGradientEqualsFiniteDifferences) {
  Matrix gate_up(2, 6, 1, 2.0f), dout(2, 3, 2);
  std::vector<double> gud = gate_up.doubles(), dod = dout.doubles(), out(6), d(12);
  reference::swiglu_backward(rows_of(d, 2), rows_of(dod, 2), rows_of(gud, 2));
  const auto loss = [&] {
    reference::swiglu_forward(rows_of(out, 2), rows_of(gud, 2));
    double sum = 0.0;
    for (size_t i = 0; i < out.size(); ++i) sum += out[i] * dod[i];
    return sum;
  };
  for (size_t i = 0; i < gud.size(); ++i) EXPECT_NEAR(slope(gud[i], loss), d[i], 1e-7);
}

TEST(Swiglu, LargeGatesStayFiniteAndBadNumbersShow) {
  const float nan_with_payload = std::bit_cast<float>(0x7fc00001u);
  std::vector<float> gate_up = {1e4f, -1e4f, 3e38f, -3e38f, 0.0f, kNan, kInf, nan_with_payload, 2, 2, 1, 2, 2, 2, 2, 2};
  for (const auto& ctx : contexts()) {
    Output out(DType::f32, 1, 8), d(DType::f32, 1, 16);
    std::vector<float> ones(8, 1.0f);
    swiglu_forward(*ctx, out.view(), {gate_up.data(), 1, 16});
    swiglu_backward(*ctx, d.view(), {ones.data(), 1, 8}, {gate_up.data(), 1, 16});
    const View<float> o = out.view().f32();
    EXPECT_EQ(o[0], 2e4f);
    EXPECT_NEAR(o[1], 0.0f, 1e-30f);
    EXPECT_EQ(o[2], 3e38f);
    EXPECT_NEAR(o[3], 0.0f, 8.0f);  // -3e38 / e^88.3: e^-g is held there
    EXPECT_EQ(o[4], 0.0f);
    EXPECT_TRUE(std::isnan(o[5]) && std::isnan(o[7]) && std::isinf(o[6]));
    for (const int64_t i : {5, 7, 13, 15}) EXPECT_TRUE(std::isnan(d.view().f32()[i])) << i;
    for (const int64_t i : {0, 1, 4, 8, 9, 12}) EXPECT_TRUE(std::isfinite(d.view().f32()[i])) << i;
  }
}

TEST(Convert, RoundsToNearestEvenAndKeepsBadNumbers) {
  for (const int64_t width : widths()) {
    Matrix x(2, width, 1);
    x.f32()(0, width / 2) = kNan;
    x.f32()(1, 0) = -kInf;
    x.f32()(1, width - 1) = std::bit_cast<float>(0x3f808000u);  // a tie
    for (const auto& ctx : contexts()) {
      for (const DType dtype : {DType::f32, DType::bf16}) {
        Output y(dtype, 2, width);
        std::vector<float> got, all;
        convert(*ctx, y.view(), x.f32());
        y.append_to(got);
        append(all, x.f32());
        for (size_t i = 0; i < all.size(); ++i) {
          const float expected = dtype == DType::f32 ? all[i] : static_cast<float>(bf16(all[i]));
          EXPECT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(expected)) << width << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace hone::kernels
