#include "reward/countdown.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "core/error.h"
#include "io/json.h"
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

// What stands in the last complete pair of tags.
std::optional<std::string_view> find_answer(std::string_view text) {
  constexpr std::string_view kOpen = "<answer>", kClose = "</answer>";
  std::optional<std::string_view> answer;
  for (size_t at = text.find(kOpen); at != std::string_view::npos;) {
    const size_t begin = at + kOpen.size(), end = text.find(kClose, begin);
    if (end == std::string_view::npos) break;
    answer = text.substr(begin, end - begin);
    at = text.find(kOpen, end + kClose.size());
  }
  return answer;
}

}  // namespace

Score score_countdown(std::string_view text, std::string_view ground_truth) {
  Puzzle puzzle = read_task(ground_truth);
  const auto answer = find_answer(text);
  if (!answer) return {0.0f, "no answer found"};
  if (answer->size() > kMaxExpressionBytes) return {0.0f, fmt::format("an expression of {} bytes", answer->size())};
  const ExpressionValue value = evaluate_expression(*answer, std::move(puzzle.numbers), puzzle.target);
  if (!value.fault.empty()) return {0.0f, value.fault};
  return value.equals_target ? Score{1.0f, "right"} : Score{0.0f, "another value than the target"};
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
