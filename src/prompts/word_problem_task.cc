#include "prompts/word_problem_task.h"

#include <array>
#include <map>
#include <sstream>
#include <string_view>

#include "core/error.h"
#include "prompts/instructions.h"
#include "prompts/task_builder.h"
#include "prompts/word_problem_scenarios.h"

namespace hone {

namespace {

struct Person {
  const char *name, *he, *him, *his;
};
constexpr std::array kPeople = {
    Person{"Mia", "she", "her", "her"},   Person{"Tom", "he", "him", "his"},    Person{"Anna", "she", "her", "her"},
    Person{"Ben", "he", "him", "his"},    Person{"Lucy", "she", "her", "her"},  Person{"Sam", "he", "him", "his"},
    Person{"Emma", "she", "her", "her"},  Person{"Jack", "he", "him", "his"},   Person{"Nina", "she", "her", "her"},
    Person{"Omar", "he", "him", "his"},   Person{"Sara", "she", "her", "her"},  Person{"Leo", "he", "him", "his"},
    Person{"Grace", "she", "her", "her"}, Person{"David", "he", "him", "his"},  Person{"Julia", "she", "her", "her"},
    Person{"Peter", "he", "him", "his"},  Person{"Maria", "she", "her", "her"}, Person{"Kevin", "he", "him", "his"},
};
constexpr std::array kThings = {"apples", "marbles", "stickers", "pencils", "books", "cards",   "shells", "cookies",
                                "stamps", "coins",   "buttons",  "oranges", "beads", "flowers", "toys",   "balloons"};

using Numbers = std::map<char, int64_t>;
using Words = std::map<std::string, std::string, std::less<>>;

// "a+b=x": sets x. False when it is no whole number above zero.
bool calculate(std::string_view formula, Numbers& numbers) {
  HONE_CHECK(formula.size() == 5 && formula[3] == '=', "'{}'", formula);
  const int64_t left = numbers.at(formula[0]), right = numbers.at(formula[2]);
  const char op = formula[1];
  if (op == '/' && (right == 0 || left % right != 0)) return false;
  const int64_t value = op == '+' ? left + right : op == '-' ? left - right : op == '*' ? left * right : left / right;
  numbers[formula[4]] = value;
  return value > 0;
}

// Nothing when the numbers of this attempt do not fit together.
std::optional<Numbers> draw_numbers(Dice& dice, const WordProblemScenario& scenario) {
  Numbers numbers;
  std::istringstream ranges(scenario.numbers), given(scenario.given);
  std::map<char, std::pair<int64_t, int64_t>> bounds;
  char letter = 0, colon = 0, dash = 0;
  int64_t first = 0, last = 0;
  while (ranges >> letter >> colon >> first >> dash >> last) {
    bounds[letter] = {first, last};
    numbers[letter] = dice.between(first, last);
  }
  for (std::string formula; given >> formula;) {
    if (!calculate(formula, numbers)) return {};
  }
  for (const auto& [name, range] : bounds) {
    if (numbers[name] < range.first || numbers[name] > range.second) return {};
  }
  return numbers;
}

Words draw_words(Dice& dice) {
  std::vector<Person> people(kPeople.begin(), kPeople.end());
  const auto draw_person = [&] {
    const auto at = people.begin() + dice.between(0, static_cast<int64_t>(people.size()) - 1);
    const Person person = *at;
    people.erase(at);
    return person;
  };
  const Person first = draw_person();
  Words words = {{"N", first.name}, {"he", first.he}, {"him", first.him}, {"his", first.his}};
  words["He"] = std::string(first.he) == "he" ? "He" : "She";
  words["M"] = draw_person().name;
  words["O"] = draw_person().name;
  words["things"] = kThings[static_cast<size_t>(dice.between(0, kThings.size() - 1))];
  return words;
}

// The text with its places filled. Calculations set further numbers; nothing when one of them comes out badly.
// `answer` gets the value of the last one.
std::optional<std::string> fill(std::string_view text, Numbers& numbers, const Words& words, int64_t& answer) {
  std::string filled;
  while (!text.empty()) {
    const size_t open = text.find_first_of("{[");
    filled += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const size_t close = text.find_first_of("}]", open);
    const std::string_view place = text.substr(open + 1, close - open - 1);
    if (text[open] == '[') {
      if (!calculate(place, numbers)) return {};
      answer = numbers.at(place[4]);
      filled += fmt::format("{} {} {} = {}", numbers.at(place[0]), place[1], numbers.at(place[2]), answer);
    } else if (const auto word = words.find(place); word != words.end()) {
      filled += word->second;
    } else {
      filled += std::to_string(numbers.at(place[0]));
    }
    text.remove_prefix(close + 1);
  }
  return filled;
}

}  // namespace

Task make_word_problems(const TaskOptions& options) {
  check_difficulty("word_problems", options.difficulty, 3);
  const std::vector<WordProblemScenario>& scenarios = word_problem_scenarios();
  const auto make = [&](Dice& dice, int64_t index) -> std::optional<TaskItem> {
    const int steps = options.difficulty.of_item(index);
    std::vector<int64_t> fitting;
    for (size_t i = 0; i < scenarios.size(); ++i) {
      if (scenarios[i].steps == steps) fitting.push_back(static_cast<int64_t>(i));
    }
    const int64_t chosen = fitting[static_cast<size_t>(dice.between(0, static_cast<int64_t>(fitting.size()) - 1))];
    const WordProblemScenario& scenario = scenarios[static_cast<size_t>(chosen)];
    const Words words = draw_words(dice);
    std::optional<Numbers> numbers = draw_numbers(dice, scenario);
    if (!numbers) return {};
    std::vector<int64_t> operands = {chosen};
    for (const auto& [letter, value] : *numbers) operands.push_back(value);
    int64_t answer = 0;
    const auto question = fill(scenario.question, *numbers, words, answer);
    const auto solution = fill(scenario.solution, *numbers, words, answer);
    if (!solution) return {};
    return TaskItem{.prompt = fmt::format("{} {}", *question, kHashesInstruction),
                    .response = fmt::format("{}\n#### {}", *solution, answer),
                    .ground_truth = std::to_string(answer),
                    .difficulty = steps,
                    .operands = std::move(operands)};
  };
  return build_task({.data_source = "hone/word_problems", .chat = true}, options.sizes, options.seed, make);
}

}  // namespace hone
