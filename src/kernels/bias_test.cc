#include "kernels/bias.h"

#include <algorithm>

#include "kernels/row_test_cases.h"

namespace hone::kernels {
namespace {

using namespace testing;

TEST(Bias, ForwardAddsItToEveryRow) {
  for (const int64_t width : widths()) {
    Matrix y(5, width, 1), b(1, width, 2);
    const std::vector<float> got = same_everywhere([&](Context& ctx) {
      Output out(DType::f32, 5, width);
      for (int64_t t = 0; t < 5; ++t) std::copy_n(y.f32().row(t), width, out.view().f32().row(t));
      bias_forward(ctx, out.view().f32(), b.f32());
      std::vector<float> all;
      out.append_to(all);
      return all;
    });
    for (int64_t t = 0; t < 5; ++t) {
      for (int64_t n = 0; n < width; ++n) {
        EXPECT_EQ(got[static_cast<size_t>(t * width + n)], y.f32()(t, n) + b.f32()[n]);
      }
    }
  }
}

// Sums of so many tokens of size 1 are wrong by at most half a unit in the last place of the sum for each addition.
TEST(Bias, BackwardSumsOverTokensWithTheSameBitsForAnyThreads) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const int64_t tokens : {1, 63, 64, 65, 200}) {
      constexpr int64_t kWidth = 37;
      Matrix dy(tokens, kWidth, 3), before(1, kWidth, 4);
      Output rounded(dtype, tokens, kWidth);
      for (int64_t t = 0; t < tokens; ++t) {
        for (int64_t n = 0; n < kWidth; ++n) {
          if (dtype == DType::f32) {
            rounded.view().f32()(t, n) = dy.f32()(t, n);
          } else {
            rounded.view().b16()(t, n) = bf16(dy.f32()(t, n));
          }
        }
      }
      const std::vector<float> got = same_everywhere([&](Context& ctx) {
        std::vector<float> db(before.f32().data, before.f32().data + kWidth);
        bias_backward(ctx, {db.data(), kWidth}, rounded.view());
        return db;
      });
      for (int64_t n = 0; n < kWidth; ++n) {
        double sum = before.f32()[n], size = std::abs(sum);
        for (int64_t t = 0; t < tokens; ++t) {
          const double value = dtype == DType::f32 ? double{rounded.view().f32()(t, n)}
                                                   : double{static_cast<float>(rounded.view().b16()(t, n))};
          sum += value;
          size += std::abs(value);
        }
        EXPECT_NEAR(got[static_cast<size_t>(n)], sum, size * 70 * kUnit) << n;
      }
    }
  }
}

}  // namespace
}  // namespace hone::kernels
