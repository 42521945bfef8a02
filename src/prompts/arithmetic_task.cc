#include "prompts/arithmetic_task.h"

#include <algorithm>

#include "core/error.h"
#include "prompts/task_builder.h"
#include "text/character_tokenizer.h"

namespace hone {

namespace {

std::string padded(int64_t value, int width) { return fmt::format("{:0{}}", value, width); }

std::string worked_steps(const std::string& a, const std::string& b, bool plus) {
  std::string steps;
  int carry = 0;
  for (size_t i = a.size(); i-- > 0;) {
    const int x = a[i] - '0', y = b[i] - '0';
    const int value = plus ? x + y + carry : x - y - carry;
    const int carry_out = plus ? value / 10 : value < 0;
    steps += fmt::format("{}{}{}{}{}", x, y, carry, (value + 10) % 10, carry_out);
    carry = carry_out;
  }
  return steps;
}

}  // namespace

Task make_arithmetic(const ArithmeticOptions& options) {
  if (options.digits < 1 || options.digits > 9) {
    throw Error(fmt::format("arithmetic with {} digits", options.digits), "digits go from 1 to 9");
  }
  int64_t first = 1;
  for (int i = 1; i < options.digits; ++i) first *= 10;
  const auto make = [&](Dice& dice, int64_t index) -> std::optional<TaskItem> {
    const bool plus = index % 2 == 0;
    int64_t a = dice.between(first, 10 * first - 1), b = dice.between(first, 10 * first - 1);
    if (!plus && a < b) std::swap(a, b);
    const std::string result = padded(plus ? a + b : a - b, options.digits + 1);
    return TaskItem{.prompt = fmt::format("{}{}{}=", a, plus ? '+' : '-', b),
                    .response = worked_steps(std::to_string(a), std::to_string(b), plus) + "=" + result,
                    .ground_truth = result,
                    .operands = {std::min(a, b), std::max(a, b)}};
  };
  return build_task({.data_source = "hone/arithmetic"}, options.sizes, options.seed, make);
}

void write_arithmetic_tokenizer(const std::string& folder) {
  write_character_tokenizer(folder, kArithmeticCharacters, {kArithmeticEnd}, kArithmeticEnd);
}

}  // namespace hone
