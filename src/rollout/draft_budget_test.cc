#include "rollout/draft_budget.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "rollout/acceptance.h"

namespace hone {
namespace {

using Counts = std::vector<int64_t>;

Counts choose(const std::vector<std::vector<double>>& offers, const CostCurve& cost, int64_t rows, int64_t draws,
              int64_t most = 1000) {
  DraftBudget budget;
  for (const auto& offer : offers) budget.offer(offer);
  return budget.choose(cost, rows, draws, most);
}

double rate_of(const std::vector<std::vector<double>>& offers, const Counts& counts, const CostCurve& cost,
               int64_t rows, int64_t draws) {
  auto ids = static_cast<double>(draws);
  for (size_t o = 0; o < offers.size(); ++o) {
    for (int64_t d = 0; d < counts[o]; ++d, ++rows) ids += offers[o][static_cast<size_t>(d)];
  }
  return ids / cost.seconds(rows);
}

TEST(CostCurve, IsStraightBetweenPointsAndBeyondAndNeverFalls) {
  const CostCurve curve({{2, 1.0}, {4, 0.5}, {8, 2.0}});
  EXPECT_EQ(curve.seconds(1), 1.0);
  EXPECT_EQ(curve.seconds(4), 1.0);
  EXPECT_EQ(curve.seconds(6), 1.5);
  EXPECT_EQ(curve.seconds(12), 3.0);
}

TEST(DraftBudget, EveryDraftIsTakenWhereRowsAreFreeAndNoneWhereEachCostsAsMuchAsTheFirst) {
  const std::vector<std::vector<double>> offers{{0.9, 0.5, 0.01}, {}, {0.2}};
  EXPECT_EQ(choose(offers, CostCurve({{1, 1.0}, {100, 1.0}}), 3, 3), (Counts{3, 0, 1}));
  EXPECT_EQ(choose(offers, CostCurve({{1, 1.0}, {100, 100.0}}), 3, 3), (Counts{0, 0, 0}));
}

TEST(DraftBudget, LikelierRowsComeFirstAndTheRoomIsKept) {
  const CostCurve flat({{1, 1.0}});
  EXPECT_EQ(choose({{0.9, 0.3}, {0.8, 0.7}, {0.6}}, flat, 3, 3, 3), (Counts{1, 2, 0}));
  EXPECT_EQ(choose({{0.5}, {0.5}}, flat, 2, 2, 1), (Counts{1, 0}));  // of equals the first
  EXPECT_EQ(choose({{0.9}}, flat, 1, 1, 0), (Counts{0}));
}

TEST(DraftBudget, AStepOfTheCurveIsCrossedWhenTheRowsBehindItPayForIt) {
  const CostCurve step({{8, 1.0}, {9, 1.5}, {16, 1.5}, {17, 2.0}});
  const std::vector<double> sure(8, 0.95);
  EXPECT_EQ(choose({{0.95}}, step, 8, 8), (Counts{0}));
  EXPECT_EQ(choose({sure, {0.1}}, step, 8, 8), (Counts{8, 0}));
}

TEST(DraftBudget, NoOtherChoiceOfRandomOffersGivesMoreIdsPerSecond) {
  const auto uniform = [](uint64_t draw, uint32_t place) {
    return double{random_uniform({5, Stream::test}, draw, 0, place)};
  };
  for (uint64_t draw = 0; draw < 200; ++draw) {
    uint32_t place = 0;
    std::vector<CostPoint> points;
    for (int64_t rows = 1; rows <= 12; ++rows) {
      const double before = points.empty() ? 1.0 : points.back().seconds;
      points.push_back({rows, before + 0.5 * std::pow(uniform(draw, place++), 4)});
    }
    const CostCurve cost(points);
    std::vector<std::vector<double>> offers(3);
    for (auto& offer : offers) {
      double p = 1;
      for (int d = 0; d < 3; ++d) offer.push_back(p *= uniform(draw, place++));
    }
    const double found = rate_of(offers, choose(offers, cost, 3, 3), cost, 3, 3);
    for (int64_t a = 0; a < 64; ++a) {
      EXPECT_GE(found * (1 + 1e-12), rate_of(offers, {a % 4, a / 4 % 4, a / 16}, cost, 3, 3));
    }
  }
}

TEST(Acceptance, FollowsWhatCameByTheLengthOfTheMatch) {
  Acceptance acceptance(20);
  EXPECT_EQ(acceptance.probability(1, 0.5, 2), 0.5);
  for (int i = 0; i < 100; ++i) {
    acceptance.observe(1, false);
    acceptance.observe(9, true);
  }
  EXPECT_LT(acceptance.probability(1, 0.5, 2), 0.06);
  EXPECT_GT(acceptance.probability(15, 0.5, 2), 0.94);
  EXPECT_EQ(acceptance.probability(16, 0.5, 2), 0.5);
  for (int i = 0; i < 100; ++i) acceptance.observe(9, false);
  EXPECT_LT(acceptance.probability(9, 0.5, 2), 0.06);
  EXPECT_EQ(Acceptance::class_of(1000000), Acceptance::kClasses - 1);
}

}  // namespace
}  // namespace hone
