#include "prompts/task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "core/error.h"
#include "prompts/arithmetic_task.h"
#include "prompts/countdown_task.h"
#include "prompts/instructions.h"
#include "prompts/sorting_task.h"
#include "prompts/word_problem_task.h"

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

// Numbers of a text in their order.
std::vector<int64_t> numbers_of(const std::string& text) {
  std::vector<int64_t> numbers;
  for (size_t at = text.find_first_of("0123456789"); at != std::string::npos;) {
    size_t length = 0;
    numbers.push_back(std::stoll(text.substr(at), &length));
    at = text.find_first_of("0123456789", at + length);
  }
  return numbers;
}

// What the stories say, computed anew from the numbers as they stand in the question: by words that only this story
// has.
struct Story {
  const char* words;
  int64_t (*answer)(const std::vector<int64_t>& n);
};
using Numbers = const std::vector<int64_t>&;
const Story kStories[] = {
    {" more. How many ", [](Numbers n) { return n[0] + n[1]; }},
    {"get on and nobody gets off", [](Numbers n) { return n[0] + n[1]; }},
    {"How old is the grandmother", [](Numbers n) { return n[0] + n[1]; }},
    {"of them to ", [](Numbers n) { return n[0] - n[1]; }},
    {"So far ", [](Numbers n) { return n[0] - n[1]; }},
    {"loaves did the bakery sell", [](Numbers n) { return n[0] - n[1]; }},
    {" boxes of ", [](Numbers n) { return n[0] * n[1]; }},
    {" earn in ", [](Numbers n) { return n[0] * n[1]; }},
    {"rows of", [](Numbers n) { return n[0] * n[1]; }},
    {" are in each bag?", [](Numbers n) { return n[0] / n[1]; }},
    {"How many tables", [](Numbers n) { return n[0] / n[1]; }},
    {"does one ticket cost", [](Numbers n) { return n[0] / n[1]; }},
    {"more and then gives", [](Numbers n) { return n[0] + n[1] - n[2]; }},
    {"already had", [](Numbers n) { return n[2] + n[0] * n[1]; }},
    {"pages a day", [](Numbers n) { return n[0] - n[2] * n[1]; }},
    {"How many dollars are left", [](Numbers n) { return n[0] - n[1] * n[2]; }},
    {"times as many. How many", [](Numbers n) { return n[0] * (n[1] + 1); }},
    {" apples are in each basket", [](Numbers n) { return (n[0] + n[1]) / n[2]; }},
    {"How old will", [](Numbers n) { return n[0] + n[1] + n[2]; }},
    {"hens", [](Numbers n) { return n[0] * n[1] / n[2]; }},
    {"on the train now", [](Numbers n) { return n[0] + n[2] - n[1]; }},
    {"does each friend get", [](Numbers n) { return (n[0] - n[1]) / n[2]; }},
    {"notebooks", [](Numbers n) { return n[2] * n[3] + n[0] * n[1]; }},
    {"then spends", [](Numbers n) { return n[0] - n[3] + n[2] * n[1]; }},
    {"ride in each bus", [](Numbers n) { return (n[0] * n[1] - n[2]) / n[3]; }},
    {"trays", [](Numbers n) { return (n[0] * n[1] - n[2]) / n[3]; }},
    {"fewer than", [](Numbers n) { return n[0] + (n[0] * n[1] - n[2]); }},
    {"cup of tea", [](Numbers n) { return (n[2] - n[1]) * n[0]; }},
    {"a game", [](Numbers n) { return n[0] * n[1] - n[2] + n[3]; }},
    {"rope", [](Numbers n) { return (n[0] - n[1] * n[2]) / n[3]; }},
    {"on Monday", [](Numbers n) { return n[0] + n[1] + n[2] - n[3]; }},
    {"theatre", [](Numbers n) { return n[0] * n[1] + n[2] * n[3]; }},
};

TEST(WordProblems, EveryAnswerIsThatOfTheStory) {
  std::map<const char*, int> seen;
  std::set<std::string> names;
  for (const int steps : {1, 2, 3}) {
    const Task task = make_word_problems({.difficulty = {steps, steps}, .sizes = kSmall});
    for (const auto* part : {&task.train, &task.val, &task.sft}) {
      for (const TaskItem& item : *part) {
        EXPECT_EQ(item.prompt.find_first_of("{}[]"), std::string::npos) << item.prompt;
        EXPECT_EQ(item.response.find_first_of("{}[]"), std::string::npos) << item.response;
        EXPECT_EQ(item.difficulty, steps);
        const size_t end = item.prompt.find(kHashesInstruction);
        ASSERT_NE(end, std::string::npos);
        const std::string question = item.prompt.substr(0, end);
        const Story* story = nullptr;
        for (const Story& one : kStories) {
          if (question.find(one.words) == std::string::npos) continue;
          EXPECT_EQ(story, nullptr) << question << "is also told by '" << one.words << "'";
          story = &one;
        }
        ASSERT_NE(story, nullptr) << question;
        ++seen[story->words];
        const std::string answer = std::to_string(story->answer(numbers_of(question)));
        EXPECT_EQ(item.ground_truth.as_string(), answer) << question;
        EXPECT_EQ(item.response.substr(item.response.rfind('\n')), "\n#### " + answer) << item.response;
        EXPECT_EQ(std::count(item.response.begin(), item.response.end(), '='), steps) << item.response;
        names.insert(question.substr(0, question.find(' ')));
      }
    }
  }
  EXPECT_EQ(seen.size(), std::size(kStories));
  for (const auto& [words, count] : seen) EXPECT_GE(count, 50) << words;
  EXPECT_GE(names.size(), 18u);
}

TEST(WordProblems, TheirOwnSizesAreThereAtEachDifficulty) {
  for (const int steps : {1, 2, 3}) {
    EXPECT_EQ(make_word_problems({.difficulty = {steps, steps}}).train.size(), 4096u);
  }
}

// The list between the colon and "Put", or between the tags.
std::vector<std::string> items_between(const std::string& text, const std::string& open, const std::string& close) {
  const size_t begin = text.find(open) + open.size();
  std::istringstream list(text.substr(begin, text.find(close, begin) - begin));
  std::vector<std::string> items;
  for (std::string item; std::getline(list, item, ',');) {
    items.push_back(item.substr(item.find_first_not_of(' ')));
  }
  return items;
}

TEST(Sorting, EveryAnswerIsTheListInTheOrderThatIsAskedFor) {
  std::map<std::string, int> orders;
  for (const int level : {1, 2, 3, 4}) {
    size_t fewest = 100, most = 0;
    for (const TaskItem& item : make_sorting({.difficulty = {level, level}, .sizes = kSmall}).sft) {
      std::vector<std::string> given = items_between(item.prompt, ": ", ". Put");
      const std::vector<std::string> answer = items_between(item.response, "<answer>", "</answer>");
      const bool words = item.prompt.find("Sort these words") == 0;
      const bool falling = item.prompt.find("reverse") != std::string::npos ||
                           item.prompt.find("largest to smallest") != std::string::npos;
      EXPECT_NE(given, answer) << "something to do";
      std::sort(given.begin(), given.end(), [&](const std::string& a, const std::string& b) {
        const bool less = words ? a < b : std::stoi(a) < std::stoi(b),
                   more = words ? b < a : std::stoi(b) < std::stoi(a);
        return falling ? more : less;
      });
      EXPECT_EQ(given, answer) << item.prompt;
      EXPECT_EQ(item.response, "<answer>" + item.ground_truth.as_string() + "</answer>");
      fewest = std::min(fewest, given.size());
      most = std::max(most, given.size());
      ++orders[item.prompt.substr(0, item.prompt.find(':'))];
    }
    EXPECT_EQ(fewest, std::vector<size_t>({3, 5, 7, 10})[static_cast<size_t>(level) - 1]);
    EXPECT_EQ(most, std::vector<size_t>({4, 6, 9, 14})[static_cast<size_t>(level) - 1]);
  }
  EXPECT_EQ(orders.size(), 4u);
  for (const auto& [order, count] : orders) EXPECT_GE(count, 300) << order;
}

TEST(Tasks, ARangeOfDifficultiesIsGoneThroughInTurn) {
  const auto counts = [](const Task& task) {
    std::map<int, int> by_difficulty;
    for (const TaskItem& item : task.val) ++by_difficulty[item.difficulty];
    return by_difficulty;
  };
  const auto problems = counts(make_word_problems({.difficulty = parse_difficulty("1-3"), .sizes = kSmall}));
  const auto countdown = counts(make_countdown({.difficulty = parse_difficulty("2-4"), .sizes = kSmall}));
  for (const int d : {1, 2, 3}) EXPECT_NEAR(problems.at(d), 333, 1);
  for (const int d : {2, 3, 4}) EXPECT_NEAR(countdown.at(d), 333, 1);
  EXPECT_EQ(countdown.size(), 3u);
  for (const char* wrong : {"", "-", "1-", "a", "1-2-3", "1.5", "9999"}) EXPECT_THROW(parse_difficulty(wrong), Error);
  for (const char* outside : {"0", "4", "0-2", "3-2", "1-4"}) {
    EXPECT_THROW(make_word_problems({.difficulty = parse_difficulty(outside), .sizes = kSmall}), Error) << outside;
  }
  EXPECT_THROW(make_countdown({.difficulty = parse_difficulty("5"), .sizes = kSmall}), Error);
}

TEST(Tasks, AreAFunctionOfTheSeed) {
  const auto first = [](uint64_t seed) { return make_arithmetic({.sizes = kSmall, .seed = seed}).train[0].prompt; };
  EXPECT_EQ(first(3), first(3));
  EXPECT_NE(first(3), first(4));
}

TEST(Tasks, HeldOutOperandsOccurNowhereElse) {
  for (Task task : {make_arithmetic({.digits = 2, .sizes = kSmall}), make_countdown({.sizes = kSmall}),
                    make_word_problems({.sizes = kSmall}), make_sorting({.sizes = kSmall})}) {
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
