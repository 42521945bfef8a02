#include "kernels/logprob.h"

#include "kernels/reference/row_operations.h"
#include "kernels/row_test_cases.h"

namespace hone::kernels {
namespace {

using namespace testing;

struct Result {
  std::vector<float> logprob, entropy, lse;
  explicit Result(int64_t rows)
      : logprob(static_cast<size_t>(rows)), entropy(static_cast<size_t>(rows)), lse(static_cast<size_t>(rows)) {}
  LogprobRows rows() {
    const int64_t n = static_cast<int64_t>(logprob.size());
    return {{logprob.data(), n}, {entropy.data(), n}, {lse.data(), n}};
  }
};

std::vector<int64_t> vocabularies() {
  std::vector<int64_t> all = widths();
  for (const int64_t size : {1023, 1024, 1025, 2048, 5003}) all.push_back(size);
  return all;
}

constexpr int64_t kRows = 3;

TEST(Logprob, ForwardEqualsPlainLoops) {
  for (const int64_t valid : vocabularies()) {
    for (const float temperature : {1.0f, 0.6f, 3.0f}) {
      const int64_t vocab = valid + 4;
      Matrix logits(kRows, vocab, 1, 5.0f);
      for (int64_t r = 0; r < kRows; ++r) logits.f32()(r, valid) = 1e6f;  // beyond the tokenizer: no probability
      const std::vector<int32_t> targets = {0, static_cast<int32_t>(valid / 2), static_cast<int32_t>(valid - 1)};
      const std::vector<float> got = same_everywhere([&](Context& ctx) {
        Result result(kRows);
        logprob_forward(ctx, result.rows(), logits.f32(), targets, temperature, valid);
        std::vector<float> out = result.logprob;
        out.insert(out.end(), result.entropy.begin(), result.entropy.end());
        out.insert(out.end(), result.lse.begin(), result.lse.end());
        return out;
      });
      for (int64_t r = 0; r < kRows; ++r) {
        std::vector<double> row(logits.f32().row(r), logits.f32().row(r) + valid);
        const reference::Logprob expected =
            reference::logprob_forward(rows_of(row, 1), targets[static_cast<size_t>(r)], temperature);
        double largest = 0.0;
        for (const double x : row) largest = std::max(largest, std::abs(x) / temperature);
        // z - max carries a rounding of the maximum, of 1 / temperature (both of order `largest`, twice) and its own;
        // the sum: exp to 3 units, 64 + 6 additions within a block, and the same error of z in every exp.
        const double units = (6.0 * largest + 3 + 70) * kUnit;
        EXPECT_NEAR(got[static_cast<size_t>(r)], expected.logprob, units + std::abs(expected.logprob) * kUnit);
        // The entropy's terms p (z - max) sum to at most its size; one more such error on each.
        EXPECT_NEAR(got[static_cast<size_t>(kRows + r)], expected.entropy, units * (10.0 + std::abs(expected.entropy)));
        EXPECT_NEAR(got[static_cast<size_t>(2 * kRows + r)], expected.lse, units + std::abs(expected.lse) * kUnit);
      }
    }
  }
}

TEST(Logprob, BackwardEqualsPlainLoops) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const int64_t valid : vocabularies()) {
      const float temperature = 0.8f;
      const int64_t vocab = valid + 21;
      Matrix logits(kRows, vocab, 1, 3.0f);
      const std::vector<int32_t> targets = {0, static_cast<int32_t>(valid / 2), static_cast<int32_t>(valid - 1)};
      std::vector<float> dlogprob = {0.7f, -1.5f, 0.0f}, dentropy = {0.0f, 0.3f, 0.0f};
      const std::vector<float> got = same_everywhere([&](Context& ctx) {
        Result result(kRows);
        logprob_forward(ctx, result.rows(), logits.f32(), targets, temperature, valid);
        Output d(dtype, kRows, vocab);
        logprob_backward(ctx, d.view(), logits.f32(), targets, temperature, valid, result.rows(),
                         {dlogprob.data(), kRows}, {dentropy.data(), kRows});
        std::vector<float> out;
        d.append_to(out);
        return out;
      });
      for (int64_t r = 0; r < kRows; ++r) {
        const size_t row_at = static_cast<size_t>(r);
        std::vector<double> row(logits.f32().row(r), logits.f32().row(r) + valid), d(row.size());
        const reference::Logprob f = reference::logprob_forward(rows_of(row, 1), targets[row_at], temperature);
        reference::logprob_backward(rows_of(d, 1), rows_of(row, 1), targets[row_at], temperature, dlogprob[row_at],
                                    dentropy[row_at]);
        for (int64_t v = 0; v < vocab; ++v) {
          const float value = got[static_cast<size_t>(r * vocab + v)];
          if (v >= valid || r == 2) {
            EXPECT_EQ(std::bit_cast<uint32_t>(value), 0u);
            continue;
          }
          const double z = row[static_cast<size_t>(v)] / temperature, p = std::exp(z - f.lse);
          const double size = std::abs(dlogprob[row_at]) / temperature +
                              (std::abs(z - f.lse) + f.entropy + 1) * std::abs(dentropy[row_at]) / temperature;
          // p carries the absolute errors of z and lse (about 2 |z| + 2 |lse| + 80 units); the target adds 1 - p.
          const double units = (4 * std::abs(z) + 4 * std::abs(f.lse) + 100) * kUnit;
          EXPECT_NEAR(value, d[static_cast<size_t>(v)],
                      size * p * units + size * 4 * kUnit * (v == targets[row_at] ? 1.0 : p) +
                          std::abs(d[static_cast<size_t>(v)]) * rounding(dtype) + 1e-37)
              << "row " << r << " id " << v << " of " << valid;
        }
      }
    }
  }
}

TEST(Logprob, BackwardMayOverwriteTheLogits) {
  const int64_t vocab = 1100;
  Matrix logits(kRows, vocab, 1, 3.0f);
  const std::vector<int32_t> targets = {0, 555, 1098};
  std::vector<float> dlogprob = {0.7f, -1.5f, 1.0f}, dentropy = {0.0f, 0.3f, 0.1f};
  for (const auto& ctx : contexts()) {
    Result result(kRows);
    logprob_forward(*ctx, result.rows(), logits.f32(), targets, 1.0f, 1099);
    Matrix apart(kRows, vocab, 9), in_place = logits;
    logprob_backward(*ctx, apart.f32(), logits.f32(), targets, 1.0f, 1099, result.rows(), {dlogprob.data(), kRows},
                     {dentropy.data(), kRows});
    logprob_backward(*ctx, in_place.f32(), in_place.f32(), targets, 1.0f, 1099, result.rows(), {dlogprob.data(), kRows},
                     {dentropy.data(), kRows});
    EXPECT_EQ(apart.doubles(), in_place.doubles());
  }
}

TEST(Logprob, ReferenceGradientEqualsFiniteDifferences) {
  Matrix logits(1, 9, 1, 2.0f);
  std::vector<double> row = logits.doubles(), d(row.size());
  const double temperature = 0.7;
  for (const bool entropy : {false, true}) {
    const auto loss = [&] {
      const reference::Logprob f = reference::logprob_forward(rows_of(row, 1), 4, temperature);
      return entropy ? f.entropy : f.logprob;
    };
    reference::logprob_backward(rows_of(d, 1), rows_of(row, 1), 4, temperature, entropy ? 0.0 : 1.0,
                                entropy ? 1.0 : 0.0);
    for (size_t i = 0; i < row.size(); ++i) EXPECT_NEAR(slope(row[i], loss), d[i], 1e-7);
  }
}

TEST(Logprob, MaskedLogitsHaveNoProbabilityAndBadOnesShow) {
  for (const auto& ctx : contexts()) {
    Matrix logits(4, 70, 1);
    for (int64_t v = 0; v < 69; ++v) logits.f32()(0, v) = -kInf;  // one id left
    logits.f32()(1, 50) = kNan;
    logits.f32()(2, 3) = kInf;
    logits.f32()(3, 3) = -kInf;
    const std::vector<int32_t> targets = {69, 1, 1, 1};
    Result result(4);
    logprob_forward(*ctx, result.rows(), logits.f32(), targets, 1.0f, 70);
    EXPECT_EQ(result.logprob[0], 0.0f);
    EXPECT_EQ(result.entropy[0], 0.0f);
    for (const size_t r : {size_t{1}, size_t{2}}) {
      EXPECT_TRUE(std::isnan(result.logprob[r]) && std::isnan(result.entropy[r]) && std::isnan(result.lse[r])) << r;
    }
    EXPECT_TRUE(std::isfinite(result.logprob[3]) && std::isfinite(result.entropy[3]));
    std::vector<float> ones(4, 1.0f);
    Output d(DType::f32, 4, 70);
    logprob_backward(*ctx, d.view(), logits.f32(), targets, 1.0f, 70, result.rows(), {ones.data(), 4},
                     {ones.data(), 4});
    for (int64_t v = 0; v < 70; ++v) {
      EXPECT_EQ(d.view().f32()(0, v), 0.0f);
      EXPECT_TRUE(std::isnan(d.view().f32()(1, v)) && std::isnan(d.view().f32()(2, v)));
      EXPECT_TRUE(std::isfinite(d.view().f32()(3, v)));
    }
    EXPECT_EQ(d.view().f32()(3, 3), 0.0f);
  }
}

TEST(Logprob, ATargetWithoutProbabilityByConstructionIsABug) {
  Context ctx(1);
  Matrix logits(1, 20, 1);
  Result result(1);
  for (const int32_t target : {-1, 10}) {
    const std::vector<int32_t> targets = {target};
    EXPECT_THROW(logprob_forward(ctx, result.rows(), logits.f32(), targets, 1.0f, 10), Bug);
  }
}

struct Drawn {
  std::vector<int32_t> ids;
  std::vector<float> logprob;
};
Drawn draw(Context& ctx, View<const float> logits, const std::vector<DrawRow>& draws, int64_t valid) {
  Drawn drawn{std::vector<int32_t>(draws.size()), std::vector<float>(draws.size())};
  sample(ctx, drawn.ids, {drawn.logprob.data(), static_cast<int64_t>(draws.size())}, logits, draws, valid);
  return drawn;
}

TEST(Sample, LogprobIsThatOfForwardToTheBitWhateverStandsBeside) {
  for (const int64_t valid : {1, 17, 1000, 1024, 5000}) {
    const int64_t rows = 12;
    Matrix logits(rows, valid + 3, 7, 4.0f);
    std::vector<DrawRow> draws;
    for (int64_t r = 0; r < rows; ++r) {
      draws.push_back({r % 3 == 0 ? 0.0f : 0.5f + 0.25f * static_cast<float>(r),
                       random_uniform({3, Stream::test}, static_cast<uint64_t>(r), 0, 0)});
    }
    const std::vector<float> got = same_everywhere([&](Context& ctx) {
      const Drawn all = draw(ctx, logits.f32(), draws, valid);
      std::vector<float> out = all.logprob;
      for (int64_t r = 0; r < rows; ++r) {
        const size_t at = static_cast<size_t>(r);
        out.push_back(static_cast<float>(all.ids[at]));
        const Drawn alone = draw(ctx, logits.f32().slice_rows(r, 1), {draws[at]}, valid);
        EXPECT_EQ(alone.ids[0], all.ids[at]);
        Result forward(1);
        const float temperature = draws[at].temperature > 0 ? draws[at].temperature : 1.0f;
        logprob_forward(ctx, forward.rows(), logits.f32().slice_rows(r, 1), alone.ids, temperature, valid);
        EXPECT_EQ(std::bit_cast<uint32_t>(forward.logprob[0]), std::bit_cast<uint32_t>(all.logprob[at]));
        EXPECT_EQ(std::bit_cast<uint32_t>(alone.logprob[0]), std::bit_cast<uint32_t>(all.logprob[at]));
        EXPECT_LT(all.ids[at], valid);
      }
      return out;
    });
  }
}

TEST(Sample, GreedyTakesTheFirstOfTheHighest) {
  for (const auto& ctx : contexts()) {
    Matrix logits(1, 3000, 1);
    logits.f32()[2999] = 100.0f;  // not valid
    for (const int64_t v : {1200, 1203, 2500}) logits.f32()[v] = 50.0f;
    EXPECT_EQ(draw(*ctx, logits.f32(), {{0.0f, 0.9f}}, 2999).ids[0], 1200);
    EXPECT_EQ(draw(*ctx, logits.f32(), {{0.0f, 0.9f}}, 3000).ids[0], 2999);
  }
}

TEST(Sample, AnIdWithoutProbabilityIsNeverDrawn) {
  const float highest = std::nextafter(1.0f, 0.0f);
  for (const auto& ctx : contexts()) {
    for (const int64_t valid : {20, 1024, 2500}) {
      Matrix logits(1, valid + 9, 1, 0.1f);
      for (int64_t v = 0; v < valid; ++v) {
        if (v != 3 && v != valid / 2) logits.f32()[v] = v % 2 == 0 ? -kInf : -200.0f;  // 0 or e^-200: 0 in float
      }
      for (const float uniform : {0.0f, 0.25f, 0.75f, highest}) {
        const int32_t id = draw(*ctx, logits.f32(), {{1.0f, uniform}}, valid).ids[0];
        EXPECT_EQ(id, uniform < 0.5f ? 3 : valid / 2);
      }
    }
    for (int64_t k = 0; k < 200; ++k) {  // rounding at the very end of long rows
      Matrix logits(1, 2100, static_cast<uint32_t>(k), 3.0f);
      for (int64_t v = 1500; v < 2100; ++v) logits.f32()[v] = -kInf;
      EXPECT_LT(draw(*ctx, logits.f32(), {{1.0f, highest}}, 2100).ids[0], 1500);
    }
  }
}

TEST(Sample, ARowThatIsNoDistributionGivesNaN) {
  for (const auto& ctx : contexts()) {
    Matrix logits(3, 40, 1);
    logits.f32()(0, 20) = kNan;
    logits.f32()(1, 20) = kInf;
    for (int64_t v = 0; v < 40; ++v) logits.f32()(2, v) = -kInf;
    for (const float temperature : {0.0f, 1.0f}) {
      const Drawn drawn = draw(*ctx, logits.f32(), std::vector<DrawRow>(3, {temperature, 0.5f}), 40);
      for (size_t r = 0; r < 3; ++r) EXPECT_TRUE(std::isnan(drawn.logprob[r]) && drawn.ids[r] == 0);
    }
  }
}

// Chi-square of 40,000 draws over 50 ids against the exact probabilities: mean 49, deviation 9.9 for a right sampler.
TEST(Sample, DrawsFollowTheDistribution) {
  const int64_t vocab = 50, count = 40000;
  const float temperature = 0.7f;
  Matrix logits(1, vocab, 5);
  std::vector<double> row = logits.doubles();
  Context ctx(1);
  std::vector<double> seen(static_cast<size_t>(vocab));
  for (int64_t k = 0; k < count; ++k) {
    const float uniform = random_uniform({17, Stream::test}, static_cast<uint64_t>(k), 0, 0);
    seen[static_cast<size_t>(draw(ctx, logits.f32(), {{temperature, uniform}}, vocab).ids[0])] += 1.0;
  }
  double chi_square = 0.0;
  for (int64_t v = 0; v < vocab; ++v) {
    const double expected =
        static_cast<double>(count) * std::exp(reference::logprob_forward(rows_of(row, 1), v, temperature).logprob);
    chi_square += (seen[static_cast<size_t>(v)] - expected) * (seen[static_cast<size_t>(v)] - expected) / expected;
  }
  EXPECT_LT(chi_square, 49 + 4 * 9.9);
  EXPECT_GT(chi_square, 49 - 4 * 9.9);
}

TEST(Sample, InvertsTheCumulativeSumInIdOrder) {
  const int64_t vocab = 3000;
  Matrix logits(1, vocab, 6, 2.0f);
  std::vector<double> row = logits.doubles();
  const double lse = reference::logprob_forward(rows_of(row, 1), 0, 1.0).lse;
  for (const auto& ctx : contexts()) {
    for (int k = 0; k < 200; ++k) {
      const float uniform = random_uniform({18, Stream::test}, static_cast<uint64_t>(k), 0, 0);
      const int32_t id = draw(*ctx, logits.f32(), {{1.0f, uniform}}, vocab).ids[0];
      double before = 0.0;
      for (int32_t v = 0; v < id; ++v) before += std::exp(row[static_cast<size_t>(v)] - lse);
      // The cumulative sum carries some 80 roundings of at most 1.
      EXPECT_LE(before, uniform + 100 * kUnit);
      EXPECT_GE(before + std::exp(row[static_cast<size_t>(id)] - lse), uniform - 100 * kUnit);
    }
  }
}

}  // namespace
}  // namespace hone::kernels
