#include "kernels/filter.h"

#include <algorithm>
#include <set>

#include "kernels/reference/row_operations.h"
#include "kernels/row_test_cases.h"

namespace hone::kernels {
namespace {

using namespace testing;

FilteredDraw draw_one(Context& ctx, View<const float> logits, const FilterRow& row, int64_t valid) {
  FilteredDraw draw;
  const int64_t first = 0;
  sample_filtered(ctx, {&draw, 1}, logits, {&first, 1}, {&row, 1}, valid);
  return draw;
}

std::vector<Filter> filters() {
  std::vector<Filter> all(11);
  all[0].top_k = 1;
  all[1].top_k = 5;
  all[2].top_k = 40;
  all[3].top_p = 0.7f;
  all[4].top_p = 0.999f;
  all[5].top_p = 1e-6f;
  all[6].min_p = 0.1f;
  all[7].min_p = 0.02f, all[7].top_k = 12, all[7].top_p = 0.9f;
  all[8].repetition_penalty = 1.3f;
  all[9].presence_penalty = 0.7f, all[9].frequency_penalty = -0.4f;
  all[10].repetition_penalty = 0.8f, all[10].frequency_penalty = 0.5f, all[10].top_p = 0.8f;
  return all;
}

// The id at `uniform` of the cumulative sum in id order, within the roundings of float; and what is cut never comes.
TEST(Filter, DrawsFromWhatPlainLoopsLeave) {
  std::vector<int64_t> vocabularies = widths();
  for (const int64_t size : {1023, 1025, 2500}) vocabularies.push_back(size);
  const float temperature = 0.8f;
  for (const int64_t valid : vocabularies) {
    Matrix logits(1, valid + 3, static_cast<uint32_t>(valid), 3.0f);
    for (int64_t v = valid; v < valid + 3; ++v) logits.f32()[v] = 100.0f;  // beyond the tokenizer
    std::vector<int32_t> prompt, response;
    for (int32_t k = 0; k < 9; ++k) prompt.push_back((k * 7 + 1) % static_cast<int32_t>(valid));
    for (int32_t k = 0; k < 12; ++k) response.push_back((k * k) % static_cast<int32_t>(valid));
    for (const Filter& filter : filters()) {
      FilterRow row{{temperature, 0.0f}, filter, prompt, response, {}};
      std::vector<double> left(logits.f32().data, logits.f32().data + valid);
      reference::penalise(rows_of(left, 1), row);
      reference::cut(rows_of(left, 1), temperature, filter);
      const double lse = reference::logprob_forward(rows_of(left, 1), 0, temperature).lse;
      for (const float uniform : {0.0f, 0.1f, 0.37f, 0.62f, 0.9f, 0.9999f}) {
        row.draw.uniform = uniform;
        const std::vector<float> got = same_everywhere([&](Context& ctx) {
          const FilteredDraw draw = draw_one(ctx, logits.f32(), row, valid);
          return std::vector<float>{static_cast<float>(draw.id), draw.logprob};
        });
        const int64_t id = static_cast<int64_t>(got[0]);
        ASSERT_LT(id, valid);
        double before = 0.0;
        for (int64_t v = 0; v < id; ++v) before += std::exp(left[static_cast<size_t>(v)] / temperature - lse);
        const double p = std::exp(left[static_cast<size_t>(id)] / temperature - lse);
        EXPECT_GT(p, 0.0) << "id " << id << " of " << valid << " was cut";
        EXPECT_LE(before, uniform + 300 * kUnit) << valid;  // logits carry two roundings, the sum some 80
        EXPECT_GE(before + p, uniform - 300 * kUnit) << valid;
      }
    }
  }
}

TEST(Filter, LogprobIsThatOfThePlainDistributionToTheBit) {
  for (const int64_t valid : {17, 1024, 3001}) {
    Matrix logits(2, valid, 4, 4.0f);
    const std::vector<int32_t> seen = {1, 5, 5};
    for (const float temperature : {0.0f, 1.0f, 0.6f}) {
      same_everywhere([&](Context& ctx) {
        std::vector<FilteredDraw> draws(2);
        const std::vector<int64_t> rows = {1, 0};
        FilterRow row{{temperature, 0.3f}, filters()[10], seen, seen, {}};
        sample_filtered(ctx, draws, logits.f32(), rows, std::vector<FilterRow>(2, row), valid);
        std::vector<float> out;
        for (size_t i = 0; i < 2; ++i) {
          const std::vector<int32_t> target = {draws[i].id};
          float logprob = 0, entropy = 0, lse = 0;
          logprob_forward(ctx, {{&logprob, 1}, {&entropy, 1}, {&lse, 1}}, logits.f32().slice_rows(rows[i], 1), target,
                          temperature > 0 ? temperature : 1.0f, valid);
          EXPECT_EQ(std::bit_cast<uint32_t>(logprob), std::bit_cast<uint32_t>(draws[i].logprob));
          out.push_back(logprob);
        }
        return out;
      });
    }
  }
}

TEST(Filter, TopKKeepsWhatTiesWithTheLastAndTopPTakesTheLowerIdFirst) {
  Context ctx(1);
  Matrix logits = Matrix::row(40, 1, 0.0f);
  for (const int64_t v : {7, 9, 20, 30}) logits.f32()[v] = 10.0f;
  const auto drawn = [&](const Filter& filter) {
    std::set<int32_t> ids;
    for (int k = 0; k < 64; ++k) {
      const FilterRow row{{1.0f, (static_cast<float>(k) + 0.5f) / 64.0f}, filter, {}, {}, {}};
      ids.insert(draw_one(ctx, logits.f32(), row, 40).id);
    }
    return ids;
  };
  Filter filter;
  filter.top_k = 2;
  EXPECT_EQ(drawn(filter), (std::set<int32_t>{7, 9, 20, 30}));
  filter.top_p = 0.5f;
  EXPECT_EQ(drawn(filter), (std::set<int32_t>{7, 9}));
  filter.top_k = 0;
  EXPECT_EQ(drawn(filter), (std::set<int32_t>{7, 9, 20}));  // the others' share of 36 e^-10 asks for a third
}

TEST(Filter, GreedyTakesTheFirstOfTheHighestThatMayCome) {
  for (const auto& ctx : contexts()) {
    Matrix logits = Matrix::row(1500, 1);
    for (const int64_t v : {1200, 1203, 1400}) logits.f32()[v] = 50.0f;
    const std::vector<int32_t> banned = {1200}, seen = {1203};
    FilterRow row{{0.0f, 0.9f}, {}, seen, {}, {}};
    EXPECT_EQ(draw_one(*ctx, logits.f32(), row, 1500).id, 1200);
    row.banned_ids[1] = banned;
    EXPECT_EQ(draw_one(*ctx, logits.f32(), row, 1500).id, 1203);
    row.filter.repetition_penalty = 1.01f;
    EXPECT_EQ(draw_one(*ctx, logits.f32(), row, 1500).id, 1400);
  }
}

TEST(Filter, ARowThatIsNoDistributionGivesNaN) {
  for (const auto& ctx : contexts()) {
    Matrix logits(3, 40, 1);
    logits.f32()(0, 20) = kNan;
    logits.f32()(1, 20) = kInf;
    for (int64_t v = 0; v < 40; ++v) logits.f32()(2, v) = -kInf;
    for (const Filter& filter : filters()) {
      for (const float temperature : {0.0f, 1.0f}) {
        const std::vector<int32_t> seen = {3};
        std::vector<FilteredDraw> draws(3);
        const std::vector<int64_t> rows = {0, 1, 2};
        const FilterRow row{{temperature, 0.5f}, filter, seen, seen, {}};
        sample_filtered(*ctx, draws, logits.f32(), rows, std::vector<FilterRow>(3, row), 40);
        for (const FilteredDraw& draw : draws) EXPECT_TRUE(std::isnan(draw.logprob) && draw.id == 0);
      }
    }
  }
}

TEST(TopLogprobs, AreTheLikeliestInOrderWithTheBitsOfForward) {
  for (const int64_t valid : {1, 16, 17, 500, 2049}) {
    Matrix logits = Matrix::row(valid + 2, 8, 3.0f);
    for (int64_t v = 0; v < valid; v += 3) logits.f32()[v] = std::round(logits.f32()[v]);  // ties
    logits.f32()[valid] = 1e6f;
    if (valid > 20) logits.f32()[4] = -kInf;
    std::vector<int32_t> order(static_cast<size_t>(valid));
    for (size_t v = 0; v < order.size(); ++v) order[v] = static_cast<int32_t>(v);
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return logits.f32()[a] > logits.f32()[b]; });
    for (const int64_t count : {int64_t{1}, std::min<int64_t>(5, valid), std::min<int64_t>(valid, 499)}) {
      same_everywhere([&](Context& ctx) {
        std::vector<int32_t> ids(static_cast<size_t>(count));
        std::vector<float> logprobs(ids.size());
        top_logprobs(ctx, ids, logprobs, logits.f32(), 0.7f, valid);
        EXPECT_TRUE(std::equal(ids.begin(), ids.end(), order.begin())) << count << " of " << valid;
        float logprob = 0, entropy = 0, lse = 0;
        logprob_forward(ctx, {{&logprob, 1}, {&entropy, 1}, {&lse, 1}}, logits.f32(),
                        std::span<const int32_t>(&ids.back(), 1), 0.7f, valid);
        EXPECT_EQ(std::bit_cast<uint32_t>(logprob), std::bit_cast<uint32_t>(logprobs.back()));
        return logprobs;
      });
    }
  }
}

}  // namespace
}  // namespace hone::kernels
