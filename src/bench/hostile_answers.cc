#include "bench/hostile_answers.h"

#include "reward/judgement.h"

namespace hone::bench {

namespace {

std::string repeated(const std::string& part, size_t bytes) {
  std::string text;
  while (text.size() + part.size() <= bytes) text += part;
  return text;
}

}  // namespace

std::vector<HostileAnswer> hostile_answers() {
  constexpr size_t kLong = 1'000'000, kInside = kMaxAnswerBytes - 20;
  std::vector<HostileAnswer> all;
  for (const char* part : {"\\boxed{", "\\boxed ",  "\\fbox{",
                           "Answer: ", "answer",    "answer is ",
                           "#### ",    "is ",       "= ",
                           ". ",       "{",         "}",
                           "9",        "1,",        "-",
                           "<answer>", "</answer>", "a ",
                           "A ",       "Answer:\n", "option ",
                           " ",        "\n",        "\\\\",
                           "\\text{ ", "<think>",   "\xf0\x9f\x98\x80",
                           "\xff",     "$"}) {
    all.push_back({repeated(part, kLong), "42"});
    all.push_back({repeated(part, kLong) + "\\boxed{42}", "42"});
  }
  for (const char* part : {"1,",
                           "1+",
                           "x+",
                           "(",
                           "[",
                           "{",
                           "\\{",
                           "\\frac{1}{",
                           "\\sqrt{",
                           "x^{",
                           "9^",
                           "9^{",
                           "!",
                           "1!",
                           "\\pm 1,",
                           "\\sin ",
                           "|",
                           "x_",
                           "-",
                           "+-",
                           "\\text{a}",
                           "\\begin{pmatrix}",
                           "1&",
                           "\\cup",
                           "a=",
                           "1000!+",
                           "\\binom{999}{500}+",
                           "99^{99}*",
                           "\\mathrm{",
                           "\xc2\xbd",
                           "e^",
                           "x or ",
                           "x^y^"}) {
    const std::string inside = repeated(part, kInside);
    for (const char* end : {"", "1", "x"}) {
      all.push_back({"Answer: \\boxed{" + inside + end + "}", "x"});
      all.push_back({"The answer is " + inside + end, "\\{" + repeated("2,", kInside) + "1\\}"});
      all.push_back({"The answer is \\{" + inside + end + "\\}", "\\{" + repeated("x,", kInside) + "1\\}"});
      all.push_back({"Answer: " + inside + end, inside + "2"});
    }
  }
  all.push_back({"\\boxed{9^{9^{9^{9}}}}", "1"});
  all.push_back({"\\boxed{" + std::string(kInside, '9') + "^{" + std::string(18, '9') + "}}", "1"});
  all.push_back({"\\boxed{5000!-4999!}", "3000!"});
  return all;
}

}  // namespace hone::bench
