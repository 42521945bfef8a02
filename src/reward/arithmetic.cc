#include "reward/arithmetic.h"

#include <fmt/core.h>

#include "reward/judgement.h"

namespace hone {

namespace {
Score judged(Verdict verdict, const char* reason, std::string_view result) {
  return to_score({verdict, std::string(result), reason});
}
}  // namespace

Score score_arithmetic(std::string_view text, std::string_view ground_truth, FinishReason finish) {
  if (finish != FinishReason::end) return judged(Verdict::no_answer, "the answer did not end", "");
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return judged(Verdict::no_answer, "no '=' in the answer", "");
  const std::string_view result = text.substr(equals + 1);
  return result == ground_truth ? judged(Verdict::right, "right", result)
                                : judged(Verdict::wrong, "wrong result", result);
}

std::optional<std::string> find_arithmetic_fault(std::string_view ground_truth) {
  if (!ground_truth.empty() && ground_truth.find_first_not_of("0123456789") == std::string_view::npos) return {};
  return fmt::format("expected digits, found \"{}\"", ground_truth);
}

}  // namespace hone
