#include "prompts/prompt_source.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"

namespace hone {
namespace {

std::vector<Prompt> make_prompts(int count) {
  std::vector<Prompt> prompts(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) prompts[static_cast<size_t>(i)].ids = {i};
  return prompts;
}

std::vector<int32_t> ids_of(const std::vector<DrawnPrompt>& batch) {
  std::vector<int32_t> ids;
  for (const DrawnPrompt& drawn : batch) ids.push_back(drawn.prompt->ids[0]);
  return ids;
}

TEST(PromptSource, AnEpochHasFullBatchesOfDifferentPrompts) {
  const auto prompts = make_prompts(10);
  PromptSource source(prompts, 4, true, 1);
  EXPECT_EQ(source.batches_per_epoch(), 2);
  uint64_t draw = 0;
  std::vector<std::vector<int32_t>> epochs;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int32_t> seen;
    for (int b = 0; b < 2; ++b) {
      EXPECT_EQ(source.position().epoch, epoch);
      const auto batch = source.next_batch();
      ASSERT_EQ(batch.size(), 4u);
      for (const DrawnPrompt& drawn : batch) EXPECT_EQ(drawn.draw, draw++) << "numbers never repeat";
      for (const int32_t id : ids_of(batch)) seen.push_back(id);
    }
    epochs.push_back(seen);
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
  }
  EXPECT_EQ(source.position(), (DataPosition{3, 0, 24}));
  EXPECT_NE(epochs[0], epochs[1]) << "each epoch has an order of its own";
}

TEST(PromptSource, WithoutShuffleRowsComeAsTheyStand) {
  const auto prompts = make_prompts(3);
  PromptSource source(prompts, 2, false, 1);
  EXPECT_EQ(ids_of(source.next_batch()), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(ids_of(source.next_batch()), (std::vector<int32_t>{0, 1}));
}

TEST(PromptSource, ContinuesFromAnyPosition) {
  const auto prompts = make_prompts(10);
  for (int stop = 0; stop <= 6; ++stop) {
    PromptSource whole(prompts, 4, true, 7), second(prompts, 4, true, 7);
    for (int b = 0; b < stop; ++b) whole.next_batch();
    second.restore(whole.position());
    for (int b = 0; b < 5; ++b) {
      const auto expected = whole.next_batch(), got = second.next_batch();
      EXPECT_EQ(ids_of(got), ids_of(expected));
      EXPECT_EQ(got[0].draw, expected[0].draw);
    }
  }
}

TEST(PromptSource, RefusesTooFewRowsAndForeignPositions) {
  const auto prompts = make_prompts(3);
  EXPECT_THROW(PromptSource(prompts, 4, true, 1), Error);
  PromptSource source(prompts, 2, true, 1);
  EXPECT_THROW(source.restore({0, 4, 0}), Error);
  EXPECT_THROW(source.restore({-1, 0, 0}), Error);
}

TEST(PromptSource, SeedsGiveDifferentOrdersAndEveryPlaceIsReached) {
  EXPECT_NE(epoch_order(100, true, 1, 0), epoch_order(100, true, 2, 0));
  std::vector<int> first(5);
  for (uint64_t seed = 0; seed < 1000; ++seed) ++first[epoch_order(5, true, seed, 0)[0]];
  for (const int count : first) EXPECT_NEAR(count, 200, 60);  // 60 is 4.7 standard deviations of a fair draw
}

}  // namespace
}  // namespace hone
