#include "bench/scorers.h"

#include <time.h>

#include <algorithm>
#include <functional>

#include "bench/hostile_answers.h"
#include "bench/timing.h"
#include "bench/word_problems.h"
#include "core/error.h"
#include "io/json.h"
#include "reward/scorer.h"

namespace hone::bench {

namespace {

constexpr int64_t kNumAnswers = 10'000;
constexpr size_t kAnswerBytes = 2048;

struct AnswerCase {
  std::string text, truth;
};

// What answers end with: every mark, in many forms of mathematics.
constexpr const char* kAnswerForms[] = {"\\frac{%}{7}",
                                        "%\\sqrt{2}",
                                        "(%, -3]",
                                        "\\{1, %, 5\\}",
                                        "%\\%",
                                        "%\\text{ cm}^2",
                                        "x^2 + %x - 1",
                                        "\\begin{pmatrix} % & 0 \\\\ 1 & 2 \\end{pmatrix}",
                                        "%",
                                        "%,000"};

std::string filled(std::string form, int64_t number) { return form.replace(form.find('%'), 1, std::to_string(number)); }

std::vector<AnswerCase> make_cases(std::string_view scorer) {
  const std::vector<std::string> problems = make_word_problems(1'000'000);
  std::vector<AnswerCase> cases;
  for (int64_t i = 0; i < kNumAnswers; ++i) {
    const std::string form = kAnswerForms[static_cast<size_t>(i) % std::size(kAnswerForms)];
    const std::string answer = filled(form, i % 97), truth = filled(form, i % 89);
    AnswerCase made;
    made.truth = scorer == "countdown"         ? R"({"target": 24, "numbers": [3, 3, 8, 8]})"
                 : scorer == "multiple_choice" ? "B"
                 : scorer == "arithmetic"      ? "42"
                                               : truth;
    const std::string end = "\nThe answer is <answer>8 / (3 - 8 / 3)</answer> Answer: " + answer + "\n#### " +
                            std::to_string(i) + " so \\boxed{" + answer + "}";
    for (size_t p = static_cast<size_t>(i); made.text.size() + end.size() < kAnswerBytes; ++p) {
      made.text += problems[p % problems.size()];
    }
    made.text.resize(kAnswerBytes - std::min(kAnswerBytes, end.size()));
    made.text += end;
    cases.push_back(std::move(made));
  }
  return cases;
}

// Of the processor: on a busy machine this is what one core needs.
double processor_seconds_of(const std::function<void()>& body) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double start = now();
  body();
  return now() - start;
}

double seconds_for_all(const Scorer& scorer, const std::vector<AnswerCase>& cases, int repetitions) {
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) {
    seconds.push_back(processor_seconds_of([&] {
      for (const AnswerCase& c : cases) score_with(scorer, {"", c.text, c.truth});
    }));
  }
  return median(seconds);
}

// Each is timed three times and its quickest counts, as caches that others fill are not the scorer's.
double longest_seconds(const Scorer& scorer) {
  double longest = 0;
  for (const HostileAnswer& hostile : hostile_answers()) {
    const auto score = [&] { score_with(scorer, {"", hostile.text, hostile.ground_truth}); };
    double quickest = processor_seconds_of(score);
    for (int i = 0; i < 2; ++i) quickest = std::min(quickest, processor_seconds_of(score));
    longest = std::max(longest, quickest);
  }
  return longest;
}

}  // namespace

int run_scorers(const Options& options) {
  for (const Scorer& scorer : scorers()) {
    const double seconds =
        seconds_for_all(scorer, make_cases(scorer.name), std::max(1, std::min(options.repetitions, 5)));
    const double longest = longest_seconds(scorer);
    if (options.json) {
      io::Json line = io::Json::object({{"name", "scorers"}, {"threads", 1}});
      line.set("scorer", scorer.name);
      line.set("answers", kNumAnswers);
      line.set("answer_bytes", static_cast<int64_t>(kAnswerBytes));
      line.set("cpu_seconds", seconds);
      line.set("longest_hostile_cpu_seconds", longest);
      options.print(line.dump());
    } else {
      options.print(fmt::format(
          "scorers      x1: {:<18} {} answers of {} B in {:.3f} s of processor time; longest hostile answer {:.2f} ms",
          scorer.name, kNumAnswers, kAnswerBytes, seconds, longest * 1e3));
    }
  }
  return 0;
}

}  // namespace hone::bench
