// Attention backward: the reference against finite differences, the kernels near the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/attention_test_cases.h"

namespace hone::kernels::attention_test {
namespace {

TEST(Attention, ReferenceGradientsMatchFiniteDifferences) {
  const Sequence x({2, 2, 6}, 7, DType::f32);
  std::vector<double> inputs[3] = {doubles(x.q), doubles(x.k), doubles(x.v)};
  const std::vector<double> d_o = doubles(x.d_o);
  std::vector<double> o(d_o.size()), lse(static_cast<size_t>(x.length * x.heads.num_heads()));
  std::vector<double> gradients[3] = {inputs[0], inputs[1], inputs[2]};
  reference::attention_backward(gradients[0], gradients[1], gradients[2], d_o, inputs[0], inputs[1], inputs[2],
                                x.shape());
  const auto loss = [&] {
    reference::attention_forward(o, lse, inputs[0], inputs[1], inputs[2], x.shape());
    double total = 0;
    for (size_t i = 0; i < o.size(); ++i) total += o[i] * d_o[i];
    return total;
  };
  constexpr double kStep = 1e-5;  // error kStep^2 * third derivative (about 10) + 1e-15 / kStep
  for (int input = 0; input < 3; ++input) {
    for (size_t i = 0; i < inputs[input].size(); ++i) {
      const double value = inputs[input][i];
      inputs[input][i] = value + kStep;
      const double above = loss();
      inputs[input][i] = value - kStep;
      const double below = loss();
      inputs[input][i] = value;
      EXPECT_NEAR(gradients[input][i], (above - below) / (2 * kStep), 1e-8) << "input " << input << " element " << i;
    }
  }
}

// What each gradient would be with every term positive: the size against which errors are relative. The largest
// relative error of a term of ds: the weight's, the C steps of dp and delta, delta's o (rounded to the compute dtype).
struct Magnitudes {
  std::vector<double> dq, dk, dv;
  double error = 0;
};
Magnitudes magnitudes_of(const Sequence& x) {
  const int64_t C = x.heads.head_dim, Hq = x.heads.num_heads(), Hk = x.heads.num_kv_heads;
  Magnitudes m{std::vector<double>(static_cast<size_t>(x.q.size())),
               std::vector<double>(static_cast<size_t>(x.k.size())),
               std::vector<double>(static_cast<size_t>(x.k.size())), 0};
  for (int64_t t = 0; t < x.length; ++t) {
    for (int64_t h = 0; h < Hq; ++h) {
      m.error = std::max(m.error, weight_error(x, t, h));
      std::vector<double> p(static_cast<size_t>(t + 1)), dp(p.size());
      double sum = 0, delta = 0;
      for (int64_t j = 0; j <= t; ++j) {
        double s = 0;
        for (int64_t c = 0; c < C; ++c) {
          const int64_t row = (t * Hq + h) * C + c, key = (j * Hk + h / x.heads.group) * C + c;
          s += static_cast<double>(x.q[row]) * static_cast<double>(x.k[key]);
          dp[static_cast<size_t>(j)] += std::abs(static_cast<double>(x.d_o[row]) * static_cast<double>(x.v[key]));
        }
        sum += p[static_cast<size_t>(j)] = std::exp(s * x.heads.scale());
      }
      for (size_t j = 0; j < p.size(); ++j) delta += (p[j] /= sum) * dp[j];
      for (int64_t j = 0; j <= t; ++j) {
        const auto i = static_cast<size_t>(j);
        for (int64_t c = 0; c < C; ++c) {
          const int64_t row = (t * Hq + h) * C + c, key = (j * Hk + h / x.heads.group) * C + c;
          const double ds = x.heads.scale() * p[i] * (dp[i] + delta);
          m.dv[static_cast<size_t>(key)] += p[i] * static_cast<double>(std::abs(x.d_o[row]));
          m.dq[static_cast<size_t>(row)] += ds * static_cast<double>(std::abs(x.k[key]));
          m.dk[static_cast<size_t>(key)] += ds * static_cast<double>(std::abs(x.q[row]));
        }
      }
    }
  }
  // p = e^(s - lse): lse's rounding adds its units, below score_bound + log n and so within weight_error again.
  m.error = 4 * m.error + kUnit * static_cast<double>(C + x.length * x.heads.group + 16) +
            (x.dtype == DType::bf16 ? kUnitBf16 : 0);
  return m;
}

void expect_gradients_near_reference(Context& ctx, const Sequence& x) {
  const Gradients got = run_backward(ctx, x);
  std::vector<double> dq(static_cast<size_t>(x.q.size())), dk(static_cast<size_t>(x.k.size())), dv(dk.size());
  reference::attention_backward(dq, dk, dv, doubles(x.d_o), doubles(x.q), doubles(x.k), doubles(x.v), x.shape());
  const Magnitudes m = magnitudes_of(x);
  const auto compare = [&](const Buffer<float>& a, const std::vector<double>& b, const std::vector<double>& size,
                           const char* what) {
    for (size_t i = 0; i < b.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(a[static_cast<int64_t>(i)]), b[i], m.error * size[i])
          << what << "[" << i << "], length " << x.length << " G " << x.heads.group << " C " << x.heads.head_dim;
    }
  };
  compare(got.dq, dq, m.dq, "dq");
  compare(got.dk, dk, m.dk, "dk");
  compare(got.dv, dv, m.dv, "dv");
}

TEST(Attention, BackwardNearReferenceForAllLengths) {
  Context ctx(2);
  for (int64_t length = 1; length <= 70; ++length) {
    expect_gradients_near_reference(ctx, Sequence({1, 3, 20}, length, DType::f32, 200 + static_cast<uint64_t>(length)));
  }
  for (int64_t length : {127, 128, 129, 160, 191, 250}) {
    expect_gradients_near_reference(ctx, Sequence({2, 2, 16}, length, DType::f32));
  }
}

TEST(Attention, BackwardNearReferenceForAllHeadShapes) {
  for (const cpu::Target* target : supported_targets()) {
    Context ctx(2, *target);
    for (int64_t C : {2, 6, 16, 18, 20, 34, 64, 128}) {
      for (int64_t G : {1, 2, 3, 4, 8}) {
        for (DType dtype : {DType::f32, DType::bf16}) {
          expect_gradients_near_reference(ctx, Sequence({2, G, C}, 41, dtype));
        }
      }
    }
  }
}

}  // namespace
}  // namespace hone::kernels::attention_test
