#include "reward/expression.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/error.h"

namespace hone {

namespace {

__extension__ typedef __int128 Wide;

constexpr int kMaxDepth = 100;

struct Fraction {
  Wide above = 0, below = 1;
};

// Recursive descent; after the first fault every function returns at once.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Fraction whole() {
    const Fraction value = sum(0);
    skip_spaces();
    if (fault_.empty() && at_ < text_.size()) fail(fmt::format("unexpected '{}'", text_[at_]));
    return value;
  }
  const std::string& fault() const { return fault_; }

 private:
  void fail(std::string why) {
    if (fault_.empty()) fault_ = std::move(why);
    at_ = text_.size();
  }
  void skip_spaces() { at_ = std::min(text_.find_first_not_of(" \t\n", at_), text_.size()); }
  // Passes over one of `wanted` and gives it; 0 when something else is next.
  char take(std::string_view wanted) {
    skip_spaces();
    if (at_ >= text_.size() || wanted.find(text_[at_]) == std::string_view::npos) return 0;
    return text_[at_++];
  }

  Fraction sum(int depth) {
    Fraction left = product(depth);
    while (const char sign = take("+-")) {
      const Fraction right = product(depth);
      const Wide a = left.above * right.below, c = right.above * left.below;
      left = {sign == '+' ? a + c : a - c, left.below * right.below};
    }
    return left;
  }

  Fraction product(int depth) {
    Fraction left = factor(depth);
    while (const char sign = take("*/")) {
      Fraction right = factor(depth);
      if (sign == '/') {
        if (right.above == 0) {
          fail("division by zero");
          right.above = 1;
        }
        std::swap(right.above, right.below);
      }
      left = {left.above * right.above, left.below * right.below};
    }
    return left;
  }

  Fraction factor(int depth) {
    if (depth >= kMaxDepth) {
      fail("nested too deeply");
      return {};
    }
    if (const char sign = take("+-")) {
      const Fraction value = factor(depth + 1);
      return {sign == '-' ? -value.above : value.above, value.below};
    }
    if (take("(")) {
      const Fraction value = sum(depth + 1);
      if (!take(")")) fail("a bracket is not closed");
      return value;
    }
    return number();
  }

  Fraction number() {
    const size_t end = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
    if (end == at_) {
      fail(at_ < text_.size() ? fmt::format("unexpected '{}'", text_[at_]) : "the expression breaks off");
      return {};
    }
    Wide value = 0;  // small: the numbers have been compared with the given ones
    for (; at_ < end; ++at_) value = value * 10 + (text_[at_] - '0');
    return {value, 1};
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string fault_;
};

// Every run of digits; a number of more than 18 digits becomes -1, which nobody is given.
std::vector<int64_t> numbers_in(std::string_view text) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = text.find_first_of("0123456789", i);
    if (begin == std::string_view::npos) break;
    i = std::min(text.find_first_not_of("0123456789", begin), text.size());
    int64_t value = i - begin > 18 ? -1 : 0;
    for (size_t k = begin; k < i && value >= 0; ++k) value = value * 10 + (text[k] - '0');
    numbers.push_back(value);
  }
  return numbers;
}

}  // namespace

bool fits_exactly(std::span<const int64_t> numbers, int64_t target) {
  constexpr Wide kLimit = Wide{1} << 126;
  Wide bound = 1;
  const auto times = [&](int64_t x) {
    const Wide factor = (x < 0 ? -Wide{x} : Wide{x}) + 1;
    bound = bound > kLimit / factor ? kLimit : bound * factor;
  };
  for (const int64_t x : numbers) times(x);
  times(target);
  return bound < kLimit;
}

ExpressionValue evaluate_expression(std::string_view text, std::vector<int64_t> numbers, int64_t target) {
  HONE_CHECK(fits_exactly(numbers, target), "{} numbers, target {}", numbers.size(), target);
  std::vector<int64_t> used = numbers_in(text);
  std::sort(used.begin(), used.end());
  std::sort(numbers.begin(), numbers.end());
  if (used != numbers) return {"the numbers are not those given, each once", false};
  Parser parser(text);
  const Fraction value = parser.whole();
  if (!parser.fault().empty()) return {parser.fault(), false};
  return {"", value.above == value.below * target};
}

}  // namespace hone
