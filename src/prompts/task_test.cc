#include "prompts/task.h"

#include <gtest/gtest.h>

#include <map>

#include "core/error.h"
#include "prompts/arithmetic_task.h"
#include "prompts/countdown_task.h"

namespace hone {
namespace {

constexpr TaskSizes kSmall = {.train = 300, .val = 1000, .sft = 500};

TEST(ArithmeticTask, EveryStepFollowsFromThoseBefore) {
  const Task task = make_arithmetic({.sizes = kSmall});
  int num_plus = 0;
  for (const TaskItem& item : task.sft) {
    const std::string &p = item.prompt, &r = item.response;
    ASSERT_EQ(p.size(), 8u) << p;
    ASSERT_EQ(r.size(), 20u) << "with the end id 21";
    const bool plus = p[3] == '+';
    num_plus += plus;
    int carry = 0;
    for (size_t step = 0; step < 3; ++step) {
      const std::string part = r.substr(5 * step, 5);
      EXPECT_EQ(part[0], p[2 - step]);
      EXPECT_EQ(part[1], p[6 - step]);
      EXPECT_EQ(part[2] - '0', carry);
      const int x = part[0] - '0', y = part[1] - '0', carry_out = part[4] - '0', digit = part[3] - '0';
      EXPECT_EQ(plus ? x + y + carry : x - y - carry, plus ? 10 * carry_out + digit : digit - 10 * carry_out);
      EXPECT_EQ(r[19 - step] - '0', digit);
      carry = carry_out;
    }
    const int a = std::stoi(p.substr(0, 3)), b = std::stoi(p.substr(4, 3));
    EXPECT_EQ(std::stoi(r.substr(16)), plus ? a + b : a - b);
    EXPECT_EQ(r.substr(15), "=" + item.ground_truth.as_string());
  }
  EXPECT_EQ(num_plus, 250);
}

TEST(ArithmeticTask, OneDigitHasAllPairsOnce) {
  const std::map<std::string, std::string> examples = {
      {"7+8=", "78051=15"}, {"8+7=", "87051=15"}, {"8-7=", "87010=01"}};
  const Task task = make_arithmetic({.digits = 1, .sizes = {.train = 15, .val = 15, .sft = 15}});  // all 45 pairs
  int num_found = 0;
  for (const auto* part : {&task.train, &task.val, &task.sft}) {
    for (const TaskItem& item : *part) {
      const auto example = examples.find(item.prompt);
      if (example == examples.end()) continue;
      EXPECT_EQ(item.response, example->second);
      ++num_found;
    }
  }
  EXPECT_EQ(num_found, 1);
}

TEST(Tasks, AreAFunctionOfTheSeed) {
  const auto first = [](uint64_t seed) { return make_arithmetic({.sizes = kSmall, .seed = seed}).train[0].prompt; };
  EXPECT_EQ(first(3), first(3));
  EXPECT_NE(first(3), first(4));
}

TEST(Tasks, HeldOutOperandsOccurNowhereElse) {
  for (Task task : {make_arithmetic({.digits = 2, .sizes = kSmall}), make_countdown({.sizes = kSmall})}) {
    EXPECT_EQ(task.val.size(), 1000u);
    EXPECT_EQ(task.train.size(), 300u);
    EXPECT_EQ(task.sft.size(), 500u);
    check_held_out(task);
    task.sft[17].operands = task.val[5].operands;
    EXPECT_THROW(check_held_out(task), Bug);
  }
}

TEST(Tasks, TooFewOperandsAreRefused) {
  EXPECT_THROW(make_arithmetic({.digits = 1, .sizes = kSmall}), Error);  // 45 pairs
  EXPECT_THROW(make_arithmetic({.digits = 10, .sizes = kSmall}), Error);
  EXPECT_THROW(make_countdown({.max_numbers = 2, .max_number = 3, .sizes = kSmall}), Error);
}

}  // namespace
}  // namespace hone
