#include "reward/math.h"

#include "reward/boxed.h"
#include "reward/hendrycks.h"
#include "reward/judgement.h"
#include "reward/thousands.h"

namespace hone {

Score score_math(std::string_view text, std::string_view ground_truth) {
  const auto box = find_last_box(text);
  if (!box) return to_score({});
  if (!box->closed) return to_score({Verdict::wrong, "", "wrong: the last box never closes"});
  const std::string pred(box->content);
  if (pred.size() > kMaxAnswerBytes) return to_score({pred == ground_truth ? Verdict::right : Verdict::wrong, pred});
  const bool right = without_thousands(hendrycks_form(pred)) == without_thousands(hendrycks_form(ground_truth));
  return to_score({right ? Verdict::right : Verdict::wrong, pred});
}

}  // namespace hone
