#include "reward/arithmetic.h"

#include <fmt/core.h>

namespace hone {

Score score_arithmetic(std::string_view text, std::string_view ground_truth, FinishReason finish) {
  if (finish != FinishReason::end) return {0.0f, "the answer did not end"};
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return {0.0f, "no '=' in the answer"};
  if (text.substr(equals + 1) != ground_truth) return {0.0f, "wrong result"};
  return {1.0f, "right"};
}

std::optional<std::string> find_arithmetic_fault(std::string_view ground_truth) {
  if (!ground_truth.empty() && ground_truth.find_first_not_of("0123456789") == std::string_view::npos) return {};
  return fmt::format("expected digits, found \"{}\"", ground_truth);
}

}  // namespace hone
