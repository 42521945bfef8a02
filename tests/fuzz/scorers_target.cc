// Scorers: answer and ground truth, divided by a tab, under every scorer. Any text gets a verdict, the same each time;
// a score is finite; a repeated ground truth is right whatever stands before its mark; a comparison is the same both
// ways, and a formula the same in braces.
#include <cmath>

#include "core/error.h"
#include "fuzz/target.h"
#include "io/utf8.h"
#include "reward/formula.h"
#include "reward/judgement.h"
#include "reward/math_compare.h"
#include "reward/scorer.h"

namespace hone::fuzz {
namespace {

// Scorers that take the last mark there is, whatever the text.
bool takes_the_last(const Scorer& scorer) {
  for (const char* name : {"gsm8k", "gsm8k_flexible", "math", "math_dapo_strict", "geo3k"}) {
    if (scorer.name == name) return true;
  }
  return false;
}

void check_comparison(std::string_view answer, std::string_view truth) {
  const Verdict one = compare_answers(answer, truth, {}), other = compare_answers(truth, answer, {});
  FUZZ_CHECK(
      (one == Verdict::right) == (other == Verdict::right) || one == Verdict::undecided || other == Verdict::undecided,
      std::string(answer) + " | " + std::string(truth));
  const std::string braced = "{" + std::string(truth) + "}";
  if (braced.size() > kMaxAnswerBytes || !parse_formula(truth, Commas::thousands)) return;
  if (!parse_formula(braced, Commas::thousands)) return;  // one level too deep, or it ends with a command
  FUZZ_CHECK(compare_answers(braced, truth, {}) != Verdict::wrong, braced);
  behaviour("in braces");
}

void run(std::string_view text) {
  const size_t tab = text.find('\t');
  const std::string_view answer = text.substr(0, tab);
  const std::string_view truth = tab == std::string_view::npos ? "42" : text.substr(tab + 1);
  for (const Scorer& scorer : scorers()) {
    const bool readable = !find_fault(scorer, truth);
    const Score score = score_with(scorer, {"", answer, truth});
    FUZZ_CHECK(!score.value || std::isfinite(*score.value), std::string(scorer.name));
    FUZZ_CHECK(score.verdict.has_value() || !readable, std::string(scorer.name) + ": " + score.reason);
    FUZZ_CHECK(score.value.has_value() || !readable || score.verdict == Verdict::undecided, score.reason);
    const Score again = score_with(scorer, {"", answer, truth});
    FUZZ_CHECK(score.value == again.value && score.verdict == again.verdict, std::string(scorer.name));
    behaviour(std::string(scorer.name) + (score.verdict ? name(*score.verdict) : "none"));
    if (!readable || !takes_the_last(scorer)) continue;
    const std::string repeated = std::string(answer) + "\n" + scorer.repeat(truth);
    FUZZ_CHECK(score_with(scorer, {"", repeated, truth}).verdict == Verdict::right, std::string(scorer.name));
  }
  check_comparison(answer, truth);
}

Material material() {
  return {
      {"so \\boxed{\\frac{1}{2}}\t0.5", "The answer is $x = 3\\sqrt{2}$.\t3\\sqrt{2}",
       "Answer: (-\\infty, 3]\t(-\\infty,3]", "#### 1,234\t1234",
       "<answer>8 / (3 - 8 / 3)</answer>\t{\"target\": 24, \"numbers\": [3, 3, 8, 8]}",
       "\\boxed{\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}}\t[[1,2],[3,4]]", "\\boxed{\\{1, 2, 3\\}}\t3, 2, 1",
       "x \\le 3\t3 \\ge x", "\\boxed{50\\%}\t0.5", "\\boxed{2 \\pm \\sqrt{3}}\t2+\\sqrt{3}, 2-\\sqrt{3}",
       "\\boxed{3\\frac{1}{2}}\t3.5", "\\boxed{12 \\text{ cm}^2}\t12", "\\boxed{9^{9^{9^{9}}}}\t1",
       "\\boxed{y = 2x + 3}\t2x - y + 3 = 0", "The answer is (B).\tB", "\\boxed{\\sin 30^\\circ}\t\\frac12",
       "\\boxed{0.1\\overline{6}}\t1/6", "\\boxed{\\binom{5}{2} + 3!}\t16"},
      {"\\boxed{",
       "}",
       "\\frac",
       "\\sqrt[3]{",
       "\\left(",
       "\\right]",
       "\\text{ cm}",
       "\\pm",
       "\\cup",
       "\\infty",
       "\\pi",
       "^{",
       "_2",
       "!",
       "|",
       "\\%",
       "1,234",
       "\\{",
       "\\}",
       "Answer:",
       "#### ",
       "<answer>",
       "</answer>",
       "answer is",
       "\t",
       "\\begin{pmatrix}",
       "\\end{pmatrix}",
       "&",
       "\\\\",
       "√",
       "½",
       "−",
       "\\sin ",
       "\\log_2 ",
       " or ",
       "and",
       "=",
       "<="},
      {},
      200,
      {{"{", "}"}, {"(", ")"}, {"\\sqrt{", "}"}, {"\\boxed{", "}"}, {"x^{", "}"}}};
}

}  // namespace

FUZZ_TARGET(run, material)

}  // namespace hone::fuzz
