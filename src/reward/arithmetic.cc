#include "reward/arithmetic.h"

#include <fmt/core.h>

namespace hone {

namespace {
Score judged(float value, const char* reason, std::string_view result) {
  return {value, reason, {{"pred", std::string(result)}}};
}
}  // namespace

Score score_arithmetic(std::string_view text, std::string_view ground_truth, FinishReason finish) {
  if (finish != FinishReason::end) return judged(0.0f, "the answer did not end", "");
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return judged(0.0f, "no '=' in the answer", "");
  const std::string_view result = text.substr(equals + 1);
  return result == ground_truth ? judged(1.0f, "right", result) : judged(0.0f, "wrong result", result);
}

std::optional<std::string> find_arithmetic_fault(std::string_view ground_truth) {
  if (!ground_truth.empty() && ground_truth.find_first_not_of("0123456789") == std::string_view::npos) return {};
  return fmt::format("expected digits, found \"{}\"", ground_truth);
}

}  // namespace hone
