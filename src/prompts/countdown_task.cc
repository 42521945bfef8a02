#include "prompts/countdown_task.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/error.h"
#include "prompts/task_builder.h"

namespace hone {

namespace {

// Part of a solution: a whole number and how it was reached. `binding` is that of its outermost operator.
struct Part {
  enum Binding { sum, product, number };
  int64_t value = 0;
  std::string text;
  Binding binding = number;
};

std::string bracketed(const Part& part, bool needed) { return needed ? "(" + part.text + ")" : part.text; }

// left op right, or nothing when it is no whole number of the range that solutions keep to.
std::optional<Part> join(const Part& left, char op, const Part& right, int64_t max_value) {
  const bool is_sum = op == '+' || op == '-';
  if (op == '/' && (right.value == 0 || left.value % right.value != 0)) return {};
  Part part;
  part.value = op == '+'   ? left.value + right.value
               : op == '-' ? left.value - right.value
               : op == '*' ? left.value * right.value
                           : left.value / right.value;
  if (part.value < 0 || part.value > max_value) return {};
  part.binding = is_sum ? Part::sum : Part::product;
  const bool bracket_left = !is_sum && left.binding == Part::sum;
  const bool bracket_right = op == '-'   ? right.binding == Part::sum
                             : op == '*' ? right.binding == Part::sum
                             : op == '/' ? right.binding != Part::number
                                         : false;
  part.text = bracketed(left, bracket_left) + " " + op + " " + bracketed(right, bracket_right);
  return part;
}

std::optional<Part> solve(Dice& dice, const std::vector<int64_t>& numbers, int64_t max_value) {
  std::vector<Part> parts;
  for (const int64_t n : numbers) parts.push_back({n, std::to_string(n), Part::number});
  const auto take = [&] {
    const auto at = parts.begin() + dice.between(0, static_cast<int64_t>(parts.size()) - 1);
    Part part = std::move(*at);
    parts.erase(at);
    return part;
  };
  while (parts.size() > 1) {
    const Part left = take(), right = take();
    std::vector<Part> choices;
    for (const char op : {'+', '-', '*', '/'}) {
      if (auto joined = join(left, op, right, max_value)) choices.push_back(std::move(*joined));
    }
    if (choices.empty()) return {};
    parts.push_back(choices[static_cast<size_t>(dice.between(0, static_cast<int64_t>(choices.size()) - 1))]);
  }
  return parts[0];
}

std::string prompt_text(const std::vector<int64_t>& numbers, int64_t target) {
  std::string list;
  for (const int64_t n : numbers) list += (list.empty() ? "" : ", ") + std::to_string(n);
  return fmt::format(
      "Using the numbers {}, write an expression that equals {}. Use + - * / and brackets, and each number exactly "
      "once. Put the expression in <answer> </answer> tags.\n",
      list, target);
}

struct Level {
  int min_numbers, max_numbers;
  int64_t max_number, max_target;
};
constexpr Level kLevels[] = {{3, 3, 60, 200}, {3, 4, 99, 999}, {4, 5, 99, 999}, {5, 6, 99, 999}};

void check_range(const char* name, int64_t value, int64_t first, int64_t last) {
  if (value >= first && value <= last) return;
  throw Error(fmt::format("countdown: {} is {}", name, value), fmt::format("it goes from {} to {}", first, last));
}

}  // namespace

Task make_countdown(const CountdownOptions& options) {
  check_range("max_numbers", options.max_numbers, 2, 6);
  check_range("min_numbers", options.min_numbers, 2, options.max_numbers);
  check_range("max_number", options.max_number, 1, 1000);
  check_range("max_target", options.max_target, 1, 1'000'000);
  if (options.difficulty) check_difficulty("countdown", *options.difficulty, std::size(kLevels));
  const auto make = [&](Dice& dice, int64_t index) -> std::optional<TaskItem> {
    Level level{options.min_numbers, options.max_numbers, options.max_number, options.max_target};
    int difficulty = 0;
    if (options.difficulty) {
      difficulty = options.difficulty->of_item(index);
      level = kLevels[difficulty - 1];
    }
    std::vector<int64_t> numbers(static_cast<size_t>(dice.between(level.min_numbers, level.max_numbers)));
    for (int64_t& n : numbers) n = dice.between(1, level.max_number);
    const int64_t max_value = std::max(level.max_target, level.max_number);  // on the way
    const auto solution = solve(dice, numbers, max_value);
    if (!solution || solution->value < 1 || solution->value > level.max_target) return {};
    io::Json list = io::Json::array();
    for (const int64_t n : numbers) list.push_back(n);
    TaskItem item{.prompt = prompt_text(numbers, solution->value),
                  .response = "<answer>" + solution->text + "</answer>",
                  .ground_truth = io::Json::object({{"target", solution->value}, {"numbers", std::move(list)}}),
                  .difficulty = difficulty,
                  .operands = std::move(numbers)};
    std::sort(item.operands.begin(), item.operands.end());
    return item;
  };
  return build_task({.data_source = "hone/countdown"}, options.sizes, options.seed, make);
}

}  // namespace hone
