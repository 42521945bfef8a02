#include "reward/math_dapo.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "reward/boxed.h"
#include "reward/judgement.h"
#include "reward/minerva.h"

namespace hone {

namespace {

constexpr std::string_view kSpace = " \t\n\r\f\v";

bool is_answer_at(std::string_view text, size_t at) {
  constexpr std::string_view kWord = "answer";
  for (size_t i = 0; i < kWord.size(); ++i) {
    if ((text[at + i] | 0x20) != kWord[i]) return false;
  }
  return true;
}

// The rest of the line behind the last "Answer:", in any case, where only white space stands before it. A mark on the
// line of another is part of that one's answer, as in verl.
std::optional<std::string_view> find_answer_line(std::string_view text) {
  std::optional<std::string_view> answer;
  for (size_t at = text.find_first_of("aA"); at != std::string_view::npos && at + 6 <= text.size();) {
    size_t next = at + 1;
    if (is_answer_at(text, at)) {
      const size_t colon = text.find_first_not_of(kSpace, at + 6);
      const bool marked = colon != std::string_view::npos && text[colon] == ':';
      const size_t begin = marked ? text.find_first_not_of(kSpace, colon + 1) : std::string_view::npos;
      if (begin != std::string_view::npos) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        answer = text.substr(begin, end - begin);
        next = end;
      } else if (marked) {
        break;  // nothing but white space is left
      }
    }
    at = text.find_first_of("aA", next);
  }
  return answer;
}

Score with_acc(Judgement judgement) {
  const double acc = judgement.verdict == Verdict::right ? 1 : 0;
  Score score = to_score(std::move(judgement), 1.0f, -1.0f);
  score.extras.insert(score.extras.begin(), {"acc", acc});
  return score;
}

}  // namespace

Score score_math_dapo(std::string_view text, std::string_view ground_truth) {
  const auto line = find_answer_line(text);
  if (!line) return with_acc({Verdict::no_answer, "[INVALID]"});
  if (line->size() > kMaxAnswerBytes) {
    return with_acc({*line == ground_truth ? Verdict::right : Verdict::wrong, std::string(*line)});
  }
  std::string pred = minerva_form(*line);
  const bool right = pred == minerva_form(ground_truth);
  return with_acc({right ? Verdict::right : Verdict::wrong, std::move(pred)});
}

Score score_math_dapo_strict(std::string_view text, std::string_view ground_truth) {
  const auto box = find_last_box(text);
  if (!box) return with_acc({});
  if (!box->closed) return with_acc({Verdict::wrong, "", "wrong: the last box never closes"});
  return with_acc({box->content == ground_truth ? Verdict::right : Verdict::wrong, std::string(box->content)});
}

bool has_answer_line(std::string_view text) { return find_answer_line(text).has_value(); }

}  // namespace hone
