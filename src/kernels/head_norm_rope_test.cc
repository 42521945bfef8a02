#include "kernels/head_norm_rope.h"

#include "kernels/reference/row_operations.h"
#include "kernels/row_test_cases.h"

namespace hone::kernels {
namespace {

using namespace testing;
constexpr float kEps = 1e-6f;

TEST(RopeTables, EqualLibmUpToAMillionPositions) {
  std::vector<int32_t> positions = {0, 1, 2, 3, 7, 100, 4095, 32768, 131071, 999983, 1000000};
  for (int32_t p = 0; p < 400; ++p) positions.push_back(p * 2503);
  std::vector<float> inv_freq;
  for (int j = 0; j < 64; ++j) inv_freq.push_back(static_cast<float>(std::pow(1e6, -j / 64.0)));
  const int64_t tokens = static_cast<int64_t>(positions.size()), pairs = 64;
  const std::vector<float> got = same_everywhere([&](Context& ctx) {
    Matrix cosine(tokens, pairs, 1), sine(tokens, pairs, 2);
    rope_tables(ctx, cosine.f32(), sine.f32(), positions, inv_freq);
    std::vector<float> out;
    append(out, cosine.f32());
    append(out, sine.f32());
    cosine.expect_guards();
    sine.expect_guards();
    return out;
  });
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t j = 0; j < pairs; ++j) {
      const size_t at = static_cast<size_t>(t * pairs + j);
      const double angle =
          double{static_cast<float>(inv_freq[static_cast<size_t>(j)])} * positions[static_cast<size_t>(t)];
      // One rounding to float; the double behind it is good to 1e-15.
      EXPECT_NEAR(got[at], std::cos(angle), std::abs(std::cos(angle)) * kUnit + 1e-15) << angle;
      EXPECT_NEAR(got[static_cast<size_t>(tokens * pairs) + at], std::sin(angle),
                  std::abs(std::sin(angle)) * kUnit + 1e-15)
          << angle;
    }
  }
}

TEST(RopeTables, AnAttentionFactorMultipliesBothInFloat) {
  const std::vector<int32_t> positions = {0, 3, 100};
  const std::vector<float> inv_freq = {1.0f, 0.1f, 0.01f};
  Matrix cosine(3, 3, 1), sine(3, 3, 2), plain_cosine(3, 3, 3), plain_sine(3, 3, 4);
  Context ctx(1);
  rope_tables(ctx, cosine.f32(), sine.f32(), positions, inv_freq, 1.138629436f);
  rope_tables(ctx, plain_cosine.f32(), plain_sine.f32(), positions, inv_freq);
  for (int64_t t = 0; t < 3; ++t) {
    for (int64_t j = 0; j < 3; ++j) {
      EXPECT_EQ(cosine.f32()(t, j), 1.138629436f * plain_cosine.f32()(t, j));
      EXPECT_EQ(sine.f32()(t, j), 1.138629436f * plain_sine.f32()(t, j));
    }
  }
}

struct Case {
  int64_t tokens, heads, head_dim;
  bool norm;
  Matrix x, w, dy, cosine, sine;
  std::vector<double> xd, wd, dyd, cosd, sind, y, rrms, dx, dw;

  Case(int64_t tokens_, int64_t heads_, int64_t head_dim_, bool norm_)
      : tokens(tokens_),
        heads(heads_),
        head_dim(head_dim_),
        norm(norm_),
        x(tokens, heads * head_dim, 1, 2.0f),
        w(Matrix::row(norm ? head_dim : 0, 2)),
        dy(tokens, heads * head_dim, 3),
        cosine(tokens, head_dim / 2, 4),
        sine(tokens, head_dim / 2, 5) {
    std::vector<int32_t> positions;
    for (int64_t t = 0; t < tokens; ++t) positions.push_back(static_cast<int32_t>(3 * t + 1));
    std::vector<float> inv_freq;
    for (int64_t j = 0; j < head_dim / 2; ++j) inv_freq.push_back(1.0f / static_cast<float>(1 + j));
    rope_tables(*contexts()[0], cosine.f32(), sine.f32(), positions, inv_freq);
    xd = x.doubles(), wd = w.doubles(), dyd = dy.doubles(), cosd = cosine.doubles(), sind = sine.doubles();
    y.resize(xd.size()), dx.resize(xd.size()), dw.assign(wd.size(), 1.0);
    rrms.resize(static_cast<size_t>(tokens * heads));
    forward();
    reference::head_norm_rope_backward(rows_of(dx, tokens), rows_of(dw, 1), rows_of(dyd, tokens), rows_of(xd, tokens),
                                       rows_of(wd, 1), heads, rows_of(cosd, tokens), rows_of(sind, tokens),
                                       rows_of(rrms, tokens));
  }
  double forward() {  // the loss sum(y dy)
    reference::head_norm_rope_forward(rows_of(y, tokens), rows_of(rrms, tokens), rows_of(xd, tokens), rows_of(wd, 1),
                                      heads, rows_of(cosd, tokens), rows_of(sind, tokens), kEps);
    double sum = 0.0;
    for (size_t i = 0; i < y.size(); ++i) sum += y[i] * dyd[i];
    return sum;
  }
  View<const float> weight() { return norm ? View<const float>(w.f32()) : View<const float>(); }
};

template <class Body>
void for_cases(const Body& body) {
  for (const bool norm : {true, false}) {
    for (int64_t head_dim = 2; head_dim <= 66; head_dim += 2) {
      Case c(2, 3, head_dim, norm);
      body(c);
    }
    Case model(140, 2, 128, norm);  // three tiles of tokens
    body(model);
  }
}

TEST(HeadNormRope, ForwardEqualsPlainLoops) {
  for_cases([](Case& c) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      const std::vector<float> got = same_everywhere([&](Context& ctx) {
        Output y(dtype, c.tokens, c.heads * c.head_dim);
        std::vector<float> rrms(c.rrms.size()), out;
        head_norm_rope_forward(ctx, y.view(), {rrms.data(), c.tokens, c.heads}, c.x.f32(), c.weight(), c.heads,
                               c.cosine.f32(), c.sine.f32(), kEps);
        y.append_to(out);
        out.insert(out.end(), rrms.begin(), rrms.end());
        return out;
      });
      // As RMSNorm (head_dim / 64 / 2 + 12), then a product and a sum over both channels of the pair.
      const double units = (static_cast<double>(c.head_dim) / 64 + 15) * kUnit;
      for (size_t i = 0; i < c.y.size(); ++i) {
        const size_t channel = i % static_cast<size_t>(c.head_dim), pairs = static_cast<size_t>(c.head_dim / 2);
        const double pair = std::hypot(c.y[i], c.y[channel < pairs ? i + pairs : i - pairs]);  // rotation keeps it
        EXPECT_NEAR(got[i], c.y[i], 2.0 * pair * units + std::abs(c.y[i]) * rounding(dtype)) << c.head_dim;
      }
      for (size_t i = 0; c.norm && i < c.rrms.size(); ++i) {
        EXPECT_NEAR(got[c.y.size() + i], c.rrms[i], c.rrms[i] * units);
      }
    }
  });
}

TEST(HeadNormRope, BackwardEqualsPlainLoopsAndAddsToTheWeightGradient) {
  for_cases([](Case& c) {
    std::vector<float> rrms(c.rrms.begin(), c.rrms.end());
    for (const DType dtype : {DType::f32, DType::bf16}) {
      const std::vector<float> got = same_everywhere([&](Context& ctx) {
        Output dx(dtype, c.tokens, c.heads * c.head_dim);
        std::vector<float> dw(c.wd.size(), 1.0f), out;
        head_norm_rope_backward(ctx, dx.view(), {dw.data(), static_cast<int64_t>(dw.size())}, c.dy.f32(), c.x.f32(),
                                c.weight(), c.heads, c.cosine.f32(), c.sine.f32(), {rrms.data(), c.tokens, c.heads});
        dx.append_to(out);
        out.insert(out.end(), dw.begin(), dw.end());
        return out;
      });
      // Values of order 1 with tails to about 10: absolute bounds from the largest terms r |g w| and r^3 |x| mean |u
      // x|.
      const double units = (static_cast<double>(c.head_dim) / 32 + 25) * kUnit;
      for (int64_t t = 0; t < c.tokens; ++t) {
        for (int64_t h = 0; h < c.heads; ++h) {
          double u = 0.0, x = 0.0;  // largest in the head
          const double r = c.norm ? c.rrms[static_cast<size_t>(t * c.heads + h)] : 1.0;
          for (int64_t i = 0; i < c.head_dim; ++i) {
            const double pair = std::hypot(c.dy.f32()(t, h * c.head_dim + i),
                                           c.dy.f32()(t, h * c.head_dim + (i + c.head_dim / 2) % c.head_dim));
            u = std::max(u, pair * (c.norm ? std::abs(c.w.f32()[i]) : 1.0));
            x = std::max(x, std::abs(double{c.x.f32()(t, h * c.head_dim + i)}));
          }
          for (int64_t i = 0; i < c.head_dim; ++i) {
            const size_t at = static_cast<size_t>((t * c.heads + h) * c.head_dim + i);
            const double size = c.norm ? r * u * (1.0 + r * r * x * x) : u;
            EXPECT_NEAR(got[at], c.dx[at], size * units + std::abs(c.dx[at]) * rounding(dtype)) << c.head_dim;
          }
        }
      }
      for (size_t i = 0; i < c.dw.size(); ++i) {
        double size = 1.0;
        for (int64_t t = 0; t < c.tokens; ++t) {
          for (int64_t h = 0; h < c.heads; ++h) {
            const int64_t at = h * c.head_dim + static_cast<int64_t>(i);
            const int64_t other = h * c.head_dim + (static_cast<int64_t>(i) + c.head_dim / 2) % c.head_dim;
            size += std::hypot(c.dy.f32()(t, at), c.dy.f32()(t, other)) * std::abs(c.x.f32()(t, at)) *
                    c.rrms[static_cast<size_t>(t * c.heads + h)];
          }
        }
        EXPECT_NEAR(got[c.dx.size() + i], c.dw[i], size * (64.0 * double(c.heads) + 8) * kUnit);
      }
    }
  });
}

TEST(HeadNormRope, ReferenceGradientEqualsFiniteDifferences) {
  for (const bool norm : {true, false}) {
    Case c(2, 2, 6, norm);
    const auto loss = [&] { return c.forward(); };
    for (size_t i = 0; i < c.xd.size(); ++i) EXPECT_NEAR(slope(c.xd[i], loss), c.dx[i], 1e-6);
    for (size_t i = 0; i < c.wd.size(); ++i) EXPECT_NEAR(slope(c.wd[i], loss), c.dw[i] - 1.0, 1e-6);
  }
}

TEST(HeadNormRope, ATokenDependsOnItselfAlone) {
  for (const bool norm : {true, false}) {
    Case c(4, 2, 22, norm);
    for (const auto& ctx : contexts()) {
      Output all(DType::bf16, 4, 44);
      std::vector<float> rrms(8);
      head_norm_rope_forward(*ctx, all.view(), {rrms.data(), 4, 2}, c.x.f32(), c.weight(), 2, c.cosine.f32(),
                             c.sine.f32(), kEps);
      for (int64_t t = 0; t < 4; ++t) {
        Output one(DType::bf16, 1, 44);
        head_norm_rope_forward(*ctx, one.view(), {rrms.data(), 1, 2}, c.x.f32().slice_rows(t, 1), c.weight(), 2,
                               c.cosine.f32().slice_rows(t, 1), c.sine.f32().slice_rows(t, 1), kEps);
        for (int64_t i = 0; i < 44; ++i) EXPECT_EQ(one.view().b16()(0, i), all.view().b16()(t, i));
      }
    }
  }
}

}  // namespace
}  // namespace hone::kernels
