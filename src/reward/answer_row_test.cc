#include "reward/answer_row.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace hone {
namespace {

AnswerRow read(const char* text) { return read_answer_row(io::parse_json(text, "row")); }

TEST(AnswerRow, TakesEveryFormOfAnAnswerAndAGroundTruth) {
  struct Row {
    const char *json, *text, *truth;
  };
  const Row table[] = {
      {R"({"output": "a", "gts": "b"})", "a", "b"},
      {R"({"response": "a", "ground_truth": "b"})", "a", "b"},
      {R"({"solution_str": "a", "gold": "b"})", "a", "b"},
      {R"({"completion": "a", "reward_model": {"style": "rule", "ground_truth": "b"}})", "a", "b"},
      {R"({"output": "a", "answer": "b"})", "a", "b"},
      {R"({"output": "a", "reward_model": {"style": "rule"}, "answer": "b"})", "a", "b"},
      {R"({"completion": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}], "gold": "b"})", "a",
       "b"},
      {R"({"output": null, "response": "a", "gts": null, "gold": "b"})", "a", "b"},
      {R"({"output": "first", "response": "second", "gts": "b", "answer": "c"})", "first", "b"},
      {R"({"output": "", "gts": ""})", "", ""},
      {R"({"output": "a", "gts": 42})", "a", "42"},
      {R"({"output": "a", "gts": {"target": ["b"]}})", "a", R"({"target": ["b"]})"},
  };
  for (const Row& row : table) {
    const AnswerRow got = read(row.json);
    EXPECT_EQ(got.text, row.text) << row.json;
    EXPECT_EQ(got.ground_truth, row.truth) << row.json;
  }
}

TEST(AnswerRow, SaysWhatIsMissing) {
  const std::pair<const char*, const char*> table[] = {
      {R"({"gts": "b"})", "no answer: expected output"},
      {R"({"output": "a"})", "no ground truth"},
      {R"({"output": "a", "reward_model": {}})", "no ground truth"},
      {R"({"output": 5, "gts": "b"})", "expected an answer as text or messages"},
      {R"({"output": [], "gts": "b"})", "expected an answer as text or messages"},
      {R"({"output": [{"role": "assistant"}], "gts": "b"})", "expected an answer as text or messages"},
  };
  for (const auto& [json, what] : table) {
    try {
      read(json);
      ADD_FAILURE() << json;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  }
}

TEST(AnswerRow, TheLengthOfAnAnswerIsThatOfItsIds) {
  const AnswerRow dumped = read(R"({"output": "a", "gts": "b", "response_ids": [5, 6, 7]})");
  EXPECT_EQ(dumped.num_ids, 3);
  EXPECT_EQ(dumped.answer().num_ids, 3);
  EXPECT_FALSE(read(R"({"output": "a", "gts": "b"})").num_ids);
  EXPECT_FALSE(read(R"({"output": "a", "gts": "b", "response_ids": null})").num_ids);
}

TEST(AnswerRow, KeepsSourceScoreAndFinish) {
  const AnswerRow bare = read(R"({"output": "a", "gts": "b"})");
  EXPECT_EQ(bare.data_source, "");
  EXPECT_FALSE(bare.recorded_score);
  EXPECT_EQ(bare.finish, FinishReason::end);
  const AnswerRow full = read(R"({"output": "a", "gts": "b", "data_source": "s", "score": -0.5, "finish": "length"})");
  EXPECT_EQ(full.data_source, "s");
  EXPECT_EQ(full.recorded_score, -0.5);
  EXPECT_FALSE(full.recorded_acc);
  EXPECT_EQ(read(R"({"output": "a", "gts": "b", "acc": true})").recorded_acc, 1);
  EXPECT_EQ(read(R"({"output": "a", "gts": "b", "acc": 0.0})").recorded_acc, 0);
  EXPECT_EQ(full.finish, FinishReason::length);
  EXPECT_EQ(full.answer().finish, FinishReason::length);
  EXPECT_FALSE(read(R"({"output": "a", "gts": "b", "score": null})").recorded_score);
}

}  // namespace
}  // namespace hone
