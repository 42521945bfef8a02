// What the scorers of mathematics and of texts have in common: a verdict, and the score that it becomes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "records/trajectory.h"

namespace hone {

// Answers and ground truths beyond this are compared as texts, byte by byte, and no other way.
inline constexpr size_t kMaxAnswerBytes = 2000;

struct Judgement {
  Verdict verdict = Verdict::no_answer;
  std::string pred;         // the answer as it was found; empty when there is none
  std::string reason = {};  // in place of the usual words
};

// `right` or `wrong` is the number; wrong also when there is no answer, absent when the verdict is undecided. The
// answer is reported as `pred`, cut to a length that a log can hold.
Score to_score(Judgement judgement, float right = 1.0f, float wrong = 0.0f);

// Every place of `from` in `text` becomes `to`, from left to right.
void replace_every(std::string& text, std::string_view from, std::string_view to);
// `text` with the arguments of every `command` written anew: `rewrite` appends to `result` what they become, and gives
// how many bytes of `rest` they are. Where that is npos, the whole text stays as it is.
std::string with_arguments(std::string_view text, std::string_view command,
                           size_t (*rewrite)(std::string_view rest, std::string& result));
int64_t count_text(std::string_view text, std::string_view part);  // places that do not overlap
// The last place of `part` in `text`, quicker than the library's on long texts without it. `probe` is a byte of `part`
// that is rare in texts.
size_t rfind_text(std::string_view text, std::string_view part, size_t probe = 0);
std::string_view trimmed(std::string_view text);  // without the white space of ASCII at its ends
std::string lower_ascii(std::string_view text);

}  // namespace hone
