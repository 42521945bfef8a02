#include "reward/gsm8k.h"

#include <fmt/core.h>

#include <algorithm>

#include "reward/judgement.h"
#include "reward/thousands.h"

namespace hone {

namespace {

constexpr std::string_view kNumberCharacters = "0123456789.,";
constexpr std::string_view kDigits = "0123456789";

// The number in a run of `-?[0-9.,]+`, or nothing when it holds no digit.
std::optional<std::string> read_number(std::string_view run) {
  if (run.find_first_of(kDigits) == std::string_view::npos) return {};
  const size_t end = run.find_last_not_of(".,") + 1;
  run = run.substr(0, end);
  std::string sign;
  if (run.starts_with('-')) sign = "-", run.remove_prefix(1);
  while (run.starts_with(',')) run.remove_prefix(1);
  return without_thousands(sign + std::string(run));
}

// The run of `-?[0-9.,]+` that begins at `begin`; empty when there is none.
std::string_view run_at(std::string_view text, size_t begin) {
  const size_t number = begin + (text.substr(begin).starts_with('-') ? 1 : 0);
  const size_t end = std::min(text.find_first_not_of(kNumberCharacters, number), text.size());
  return end > number ? text.substr(begin, end - begin) : std::string_view();
}

std::optional<std::string> find_number(std::string_view text) {
  constexpr std::string_view kMark = "#### ";
  for (size_t mark = rfind_text(text, kMark); mark != std::string_view::npos;) {
    if (const auto number = read_number(run_at(text, mark + kMark.size()))) return number;
    mark = rfind_text(text.substr(0, mark + kMark.size() - 1), kMark);
  }
  return {};
}

// The last run with a digit, wherever it stands.
std::optional<std::string> find_any_number(std::string_view text) {
  const size_t digit = text.find_last_of(kDigits);
  if (digit == std::string_view::npos) return {};
  size_t begin = text.find_last_not_of(kNumberCharacters, digit) + 1;
  if (begin > 0 && text[begin - 1] == '-') --begin;
  return read_number(run_at(text, begin));
}

Score compare(const std::optional<std::string>& number, std::string_view ground_truth) {
  if (!number) return to_score({});
  const bool right = *number == without_thousands(ground_truth);
  return to_score({right ? Verdict::right : Verdict::wrong, *number});
}

}  // namespace

Score score_gsm8k(std::string_view text, std::string_view ground_truth) {
  return compare(find_number(text), ground_truth);
}

Score score_gsm8k_flexible(std::string_view text, std::string_view ground_truth) {
  return compare(find_any_number(text), ground_truth);
}

std::optional<std::string> find_gsm8k_fault(std::string_view ground_truth) {
  if (ground_truth.find_first_of(kDigits) != std::string_view::npos) return {};
  return fmt::format("expected a number, found \"{}\"", ground_truth);
}

}  // namespace hone
