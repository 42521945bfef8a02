#include "rollout/answer_history.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(AnswerHistory, NewerAnswersTakeThePlaceOfOlderOnes) {
  AnswerHistory history(100);
  history.remember({{1, 2}, {{3}, {4, 5}}});
  history.remember({{1, 2, 3}, {{9}}});
  history.remember({{1, 2}, {{6}}});
  ASSERT_NE(history.find({1, 2}), nullptr);
  EXPECT_EQ(history.find({1, 2})->answers, (std::vector<std::vector<int32_t>>{{6}}));
  EXPECT_EQ(history.find({2}), nullptr);
  EXPECT_EQ(history.num_ids(), 7);
  EXPECT_EQ(history.entries().front().prompt, (std::vector<int32_t>{1, 2, 3}));
}

TEST(AnswerHistory, PromptsAnsweredLongestAgoGoFirst) {
  AnswerHistory history(10);
  for (int32_t prompt = 0; prompt < 20; ++prompt) {
    history.remember({{prompt}, {{1, 2}}});
    EXPECT_LE(history.num_ids(), 10);
    if (prompt == 18) history.remember({{17}, {{3, 4}}});  // 18 is older now
  }
  EXPECT_EQ(history.entries().size(), 3u);
  for (int32_t prompt : {17, 18, 19}) EXPECT_NE(history.find({prompt}), nullptr) << prompt;
  history.remember({{20}, {{1, 2}}});
  EXPECT_EQ(history.find({18}), nullptr);
  EXPECT_NE(history.find({17}), nullptr);
  history.remember({{21}, {std::vector<int32_t>(20, 1)}});  // more than there is room for
  EXPECT_EQ(history.num_ids(), 0);
}

}  // namespace
}  // namespace hone
