// Made data goes through loading, tokens and scorers: the solutions that stand in it are right, and damaged ones are
// not.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "io/file.h"
#include "io/jsonl.h"
#include "prompts/arithmetic_task.h"
#include "prompts/countdown_task.h"
#include "prompts/prompt_set.h"
#include "prompts/sft_set.h"
#include "prompts/sorting_task.h"
#include "prompts/word_problem_task.h"
#include "reward/scorer.h"

namespace hone {
namespace {

class MadeData : public ::testing::Test {
 protected:
  MadeData() {
    std::string name = (std::filesystem::temp_directory_path() / "hone_tasks_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~MadeData() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

void expect_scored(const Task& task) {
  for (const auto* part : {&task.train, &task.val, &task.sft}) {
    for (const TaskItem& item : *part) {
      const std::string truth =
          item.ground_truth.is_string() ? item.ground_truth.as_string() : item.ground_truth.dump();
      const Score right = score({task.data_source, item.response, truth, FinishReason::end});
      EXPECT_EQ(right.value, 1.0f) << item.prompt << item.response << ": " << right.reason;
      std::string damaged = item.response;
      const size_t digit = damaged.find_last_of("0123456789");
      damaged[digit] = damaged[digit] == '9' ? '0' : static_cast<char>(damaged[digit] + 1);
      EXPECT_EQ(score({task.data_source, damaged, truth, FinishReason::end}).value, 0.0f) << damaged;
    }
  }
}

TEST_F(MadeData, SolutionsAreRight) {
  const TaskSizes sizes = {.train = 200, .val = 200, .sft = 200};
  for (const int digits : {2, 3, 6, 9}) expect_scored(make_arithmetic({.digits = digits, .sizes = sizes}));
  expect_scored(make_countdown({.sizes = sizes}));
  expect_scored(make_countdown({.min_numbers = 6, .max_numbers = 6, .max_number = 1000, .sizes = sizes}));
  for (const int level : {1, 2, 3, 4}) {
    expect_scored(make_countdown({.difficulty = DifficultyRange{level, level}, .sizes = sizes}));
  }
  expect_scored(make_word_problems({.sizes = sizes}));
}

TEST_F(MadeData, SortedListsAreRightAndOthersWrong) {
  for (const TaskItem& item :
       make_sorting({.difficulty = {1, 4}, .sizes = {.train = 200, .val = 20, .sft = 20}}).train) {
    const std::string& truth = item.ground_truth.as_string();
    EXPECT_EQ(score({"hone/sorting", item.response, truth, FinishReason::end}).value, 1.0f) << item.response;
    const std::string given = item.prompt.substr(item.prompt.find(": ") + 2, truth.size());  // of the same length
    EXPECT_EQ(score({"hone/sorting", given, truth, FinishReason::end}).value, 0.0f) << item.prompt;
  }
}

// Before training the number may stand anywhere; after it, behind the hashes.
TEST_F(MadeData, WordProblemsAreScoredByTheLastNumberHoweverItIsSaid) {
  const auto value = [](const char* answer) {
    return score({"hone/word_problems", answer, "17", FinishReason::end}).value;
  };
  for (const char* right : {"12 + 5 = 17\n#### 17", "#### 17.", "Mia has 17 apples now.", "The answer is **17**",
                            "\\boxed{17}", "12 + 5 = <<12+5=17>>17", "so it is $17"}) {
    EXPECT_EQ(value(right), 1.0f) << right;
  }
  for (const char* wrong : {"17 + 5 = 22", "#### 18", "I do not know", "", "#### 117"}) EXPECT_EQ(value(wrong), 0.0f);
}

TEST_F(MadeData, WordProblemsAreWrittenAsMessages) {
  write_task(folder_, make_word_problems({.sizes = {.train = 20, .val = 20, .sft = 20}}));
  for (const char* file : {"train.jsonl", "val.jsonl", "sft.jsonl"}) {
    io::Faults faults;
    for (const io::JsonRow& row : io::read_jsonl(folder_ + "/" + file, faults)) {
      const io::Json& message = row.value.at("prompt").as_array().at(0);
      EXPECT_EQ(message.at("role").as_string(), "user");
      EXPECT_TRUE(message.at("content").as_string().ends_with("output the final answer after \"####\"."));
      if (file[0] == 's') continue;
      EXPECT_EQ(row.value.at("data_source").as_string(), "hone/word_problems");
      EXPECT_GE(row.value.at("extra_info").at("difficulty").as_int(), 1);
    }
    EXPECT_TRUE(faults.empty());
  }
}

TEST_F(MadeData, ArithmeticIsReadBackAsOneTokenACharacter) {
  write_task(folder_, make_arithmetic({.sizes = {.train = 40, .val = 30, .sft = 50}}));
  write_arithmetic_tokenizer(folder_ + "/tokenizer");
  const Tokenizer tokenizer = Tokenizer::load(folder_ + "/tokenizer");
  const int32_t end = tokenizer.find(kArithmeticEnd).value();
  EXPECT_EQ(end, 13);
  io::Faults faults;
  const PromptSet train = load_prompts({.files = {folder_ + "/train.jsonl"}}, tokenizer, faults);
  const PromptSet val = load_prompts({.files = {folder_ + "/val.jsonl"}}, tokenizer, faults);
  const auto sft = load_sft_set({.files = {folder_ + "/sft.jsonl"}}, tokenizer, end, faults).examples;
  find_unscorable(train.prompts, faults);
  find_unscorable(val.prompts, faults);
  faults.raise_if_any("made data");
  EXPECT_EQ(train.prompts.size(), 40u);
  EXPECT_EQ(val.prompts.size(), 30u);
  ASSERT_EQ(sft.size(), 50u);
  for (const Prompt& prompt : train.prompts) EXPECT_EQ(prompt.ids.size(), 8u);
  for (const SftExample& example : sft) {
    EXPECT_EQ(example.prompt_ids.size(), 8u);
    EXPECT_EQ(example.response_ids.size(), 21u);
    EXPECT_EQ(example.response_ids.back(), end);
  }
}

TEST_F(MadeData, CountdownIsReadBack) {
  const Task task = make_countdown({.sizes = {.train = 20, .val = 20, .sft = 20}});
  write_task(folder_, task);
  for (const char* file : {"train.jsonl", "val.jsonl"}) {
    io::Faults faults;
    for (const io::JsonRow& row : io::read_jsonl(folder_ + "/" + file, faults)) {
      EXPECT_EQ(row.value.at("data_source").as_string(), "hone/countdown");
      EXPECT_TRUE(row.value.at("reward_model").at("ground_truth").at("numbers").is_array());
    }
    EXPECT_TRUE(faults.empty());
  }
}

}  // namespace
}  // namespace hone
