#include "reward/geo3k.h"

#include <string>

#include "reward/boxed.h"
#include "reward/format_term.h"
#include "reward/hendrycks.h"
#include "reward/judgement.h"
#include "reward/math_compare.h"

namespace hone {

Verdict grade_strictly(std::string_view answer, std::string_view ground_truth) {
  const bool small = answer.size() <= kMaxAnswerBytes && ground_truth.size() <= kMaxAnswerBytes;
  if (small && hendrycks_form(trimmed(answer)) == hendrycks_form(trimmed(ground_truth))) return Verdict::right;
  return compare_answers(answer, ground_truth, {.tolerance = 0, .as_written = true});
}

Score score_geo3k(std::string_view text, std::string_view ground_truth) {
  const double format = has_format(text, Format::think_boxed) ? 1 : 0;
  Judgement judgement;
  if (const auto box = find_last_box(text)) {
    judgement.pred = trimmed(box->content);
    judgement.verdict = box->closed ? grade_strictly(judgement.pred, ground_truth) : Verdict::wrong;
    if (!box->closed) judgement.reason = "wrong: the last box never closes";
  }
  const auto with_format = [&](double accuracy) { return static_cast<float>(0.9 * accuracy + 0.1 * format); };
  Score score = to_score(std::move(judgement), with_format(1), with_format(0));
  score.extras.push_back({"format", format});
  return score;
}

}  // namespace hone
