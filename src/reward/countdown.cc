#include "reward/countdown.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "core/error.h"
#include "io/json.h"
#include "reward/answer_tag.h"
#include "reward/expression.h"

namespace hone {

namespace {

constexpr size_t kMaxExpressionBytes = 1000;

struct Puzzle {
  int64_t target = 0;
  std::vector<int64_t> numbers;
};

Puzzle read_task(std::string_view ground_truth) {
  const io::Json json = io::parse_json(ground_truth, "ground truth");
  const io::JsonAt root(json, "ground truth");
  Puzzle puzzle{.target = root["target"].as_int(), .numbers = {}};
  for (const io::JsonAt& number : root["numbers"].items()) {
    puzzle.numbers.push_back(number.as_int());
    if (puzzle.numbers.back() < 0) number.fail("expected a number that is not negative");
  }
  if (!fits_exactly(puzzle.numbers, puzzle.target)) root.fail("the numbers are too large to compute with exactly");
  return puzzle;
}

Score wrong(std::string reason) { return {0.0f, std::move(reason), {}, Verdict::wrong}; }

}  // namespace

Score score_countdown(std::string_view text, std::string_view ground_truth) {
  Puzzle puzzle = read_task(ground_truth);
  const auto answer = find_answer_tag(text);
  if (!answer) return {0.0f, "no answer found", {}, Verdict::no_answer};
  if (answer->size() > kMaxExpressionBytes) return wrong(fmt::format("an expression of {} bytes", answer->size()));
  const ExpressionValue value = evaluate_expression(*answer, std::move(puzzle.numbers), puzzle.target);
  if (!value.fault.empty()) return wrong(value.fault);
  if (!value.equals_target) return wrong("another value than the target");
  return {1.0f, "right", {}, Verdict::right};
}

std::optional<std::string> find_countdown_fault(std::string_view ground_truth) {
  try {
    read_task(ground_truth);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace hone
