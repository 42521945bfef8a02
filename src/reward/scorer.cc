#include "reward/scorer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/error.h"
#include "io/utf8.h"
#include "reward/arithmetic.h"
#include "reward/code_scorer.h"
#include "reward/countdown.h"
#include "reward/exact_match.h"
#include "reward/geo3k.h"
#include "reward/gsm8k.h"
#include "reward/math.h"
#include "reward/math_dapo.h"
#include "reward/multiple_choice.h"
#include "reward/prime_math.h"
#include "reward/sorting.h"

namespace hone {

namespace {

// A scorer that looks at the two texts alone.
template <Score (*function)(std::string_view, std::string_view)>
Score of_texts(const Answer& answer) {
  return function(answer.text, answer.ground_truth);
}

bool fits(std::string_view data_source, std::string_view pattern) {
  if (!pattern.ends_with('*')) return data_source == pattern;
  return data_source.starts_with(pattern.substr(0, pattern.size() - 1));
}

std::string list_known() {
  std::string list;
  for (const Route& route : routes()) list += (list.empty() ? "" : ", ") + std::string(route.data_source);
  return list;
}

double share_left(const Answer& answer, int64_t max_length) {
  if (max_length <= 0 || !answer.num_ids) return 0;
  return std::clamp(1.0 - static_cast<double>(*answer.num_ids) / static_cast<double>(max_length), 0.0, 1.0);
}

Score summed(Score score, const Answer& answer, const ScoringRules& rules) {
  if (!score.value) return score;
  const bool right = score.verdict ? score.verdict == Verdict::right : *score.value > 0;
  double sum = rules.answer_weight * double{*score.value};
  if (score.verdict && find_extra(score, "acc") == nullptr) score.extras.push_back({"acc", right ? 1.0 : 0.0});
  const auto add = [&](const char* name, double weight, double term) {
    if (weight == 0) return;
    sum += weight * term;
    const bool taken = find_extra(score, name) != nullptr;
    score.extras.push_back({taken ? std::string(name) + "_term" : name, term});
  };
  add("format", rules.format_weight, has_format(answer.text, rules.format) ? 1 : 0);
  add("length", rules.length_weight, right ? share_left(answer, rules.max_length) : 0);
  score.value = static_cast<float>(sum);
  return score;
}

}  // namespace

const std::vector<Scorer>& scorers() {
  using Text = std::string_view;
  static const auto as_it_is = [](Text truth) { return std::string(truth); };
  static const auto boxed = [](Text truth) { return fmt::format("\\boxed{{{}}}", truth); };
  static const std::vector<Scorer> kScorers = {
      {"arithmetic", "what follows the last '=', of an answer that ended",
       [](const Answer& a) { return score_arithmetic(a.text, a.ground_truth, a.finish); }, find_arithmetic_fault},
      {"countdown", "an expression of the given numbers in <answer> tags", of_texts<score_countdown>,
       find_countdown_fault},
      {"exact_match", "the whole answer, or what stands in <answer> tags", of_texts<score_exact_match>,
       find_exact_match_fault, as_it_is},
      {"geo3k", "0.9 for the last box, as it is written, and 0.1 for the form with <think>", of_texts<score_geo3k>,
       find_exact_match_fault, boxed},
      {"gsm8k", "the number behind the last \"#### \"", of_texts<score_gsm8k>, find_gsm8k_fault,
       [](Text truth) { return fmt::format("#### {}", truth); }},
      {"gsm8k_flexible", "the last number of the answer", of_texts<score_gsm8k_flexible>, find_gsm8k_fault, as_it_is},
      {"math", "the last box, in the normal form of the MATH data", of_texts<score_math>, find_exact_match_fault,
       boxed},
      {"math_dapo", "what follows the last \"Answer:\", in Minerva's normal form; 1 or -1", of_texts<score_math_dapo>,
       find_exact_match_fault, [](Text truth) { return fmt::format("Answer: {}", truth); }},
      {"math_dapo_strict", "the last box, byte for byte; 1 or -1", of_texts<score_math_dapo_strict>,
       find_exact_match_fault, boxed},
      {"multiple_choice", "the letter that is chosen", of_texts<score_multiple_choice>, find_multiple_choice_fault},
      {"prime_math", "the marked answer, compared as mathematics", of_texts<score_prime_math>, find_exact_match_fault,
       boxed},
      {"sorting", "a list in its order, in <answer> tags or the last line", of_texts<score_sorting>,
       find_sorting_fault},
      {"search_em", "what stands in <answer> tags, without case, punctuation and articles", of_texts<score_search_em>,
       find_search_em_fault},
  };
  return kScorers;
}

const Scorer* find_scorer(std::string_view name) {
  for (const Scorer& scorer : scorers()) {
    if (scorer.name == name) return &scorer;
  }
  return nullptr;
}

const std::vector<Route>& routes() {
  static const std::vector<Route> kRoutes = {
      {"hone/arithmetic", "arithmetic"},
      {"hone/countdown", "countdown"},
      {"hone/sorting", "sorting"},
      {"hone/word_problems", "gsm8k_flexible"},
      {"openai/gsm8k", "gsm8k"},
      {"lighteval/MATH", "math"},
      {"DigitalLearningGmbH/MATH-lighteval", "math"},
      {"HuggingFaceH4/MATH-500", "math"},
      {"agentica-org/DeepScaleR-Preview-Dataset", "math"},
      {"math_dapo", "math_dapo"},
      {"math_dapo_reasoning", "math_dapo"},
      {"math", "math_dapo"},
      {"aime*", "math_dapo"},
      {"numina_aops_forum", "prime_math"},
      {"numina_synthetic_math", "prime_math"},
      {"numina_amc_aime", "prime_math"},
      {"numina_synthetic_amc", "prime_math"},
      {"numina_cn_k12", "prime_math"},
      {"numina_olympiads", "prime_math"},
      {"hiyouga/geometry3k", "geo3k"},
      {"searchR1_*", "search_em"},
      {"codecontests", kCodeScorer},
      {"apps", kCodeScorer},
      {"codeforces", kCodeScorer},
      {"taco", kCodeScorer},
  };
  return kRoutes;
}

std::string_view ScoringRules::scorer_name(std::string_view data_source) const {
  for (const auto& [pattern, name] : scorers) {
    if (fits(data_source, pattern)) return name;
  }
  for (const Route& route : routes()) {
    if (!custom && fits(data_source, route.data_source)) return route.scorer;
  }
  return {};
}

OutsideScorer* ScoringRules::outside_of(std::string_view data_source) const {
  const std::string_view name = scorer_name(data_source);
  if (name == kCodeScorer) return code.get();
  return name.empty() ? custom.get() : nullptr;
}

const Scorer* ScoringRules::scorer_of(std::string_view data_source) const {
  return find_scorer(scorer_name(data_source));
}

int ScoringRules::num_threads() const {
  return std::max({1, custom ? custom->num_threads() : 1, code ? code->num_threads() : 1});
}

Score finite_or_absent(Score given) {
  if (given.value && !std::isfinite(*given.value)) {
    return {std::nullopt, fmt::format("the scorer gave {}", *given.value)};
  }
  return given;
}

Score score_with(const Scorer& scorer, const Answer& answer) {
  if (answer.finish == FinishReason::aborted) return {std::nullopt, "aborted"};
  try {
    return finite_or_absent(scorer.score(answer));
  } catch (const Error& error) {
    return {std::nullopt, fmt::format("the scorer failed: {}", error.what())};
  }
}

Score score(const Answer& answer, const ScoringRules& rules) {
  const Scorer* scorer = rules.scorer_of(answer.data_source);
  HONE_CHECK(scorer != nullptr, "no scorer for data source '{}'", answer.data_source);
  Score result = score_with(*scorer, answer);
  return rules.is_sum() ? finite_or_absent(summed(std::move(result), answer, rules)) : result;
}

std::optional<std::string> find_fault(const Scorer& scorer, std::string_view ground_truth) {
  if (auto fault = scorer.find_unreadable(ground_truth)) return fault;
  if (scorer.repeat == nullptr) return {};
  const std::string answer = scorer.repeat(ground_truth);
  const Score score = score_with(scorer, {"", answer, ground_truth});
  if (score.verdict == Verdict::right) return {};
  return fmt::format("no answer can be right: {} says of \"{}\": {}", scorer.name, io::visible(answer), score.reason);
}

std::vector<Score> score_all(const Prompt& prompt, uint64_t draw, std::span<const Answer> answers,
                             const ScoringRules& rules) {
  std::vector<Score> scores;
  OutsideScorer* outside = rules.outside_of(prompt.data_source);
  if (outside == nullptr) {
    for (const Answer& answer : answers) scores.push_back(score(answer, rules));
    return scores;
  }
  scores = outside->score(prompt, draw, answers);
  HONE_CHECK(scores.size() == answers.size(), "{} scores of {} answers", scores.size(), answers.size());
  for (size_t i = 0; rules.is_sum() && i < scores.size(); ++i) {
    scores[i] = finite_or_absent(summed(std::move(scores[i]), answers[i], rules));
  }
  return scores;
}

void find_unscorable(const std::vector<Prompt>& prompts, io::Faults& faults, const ScoringRules& rules,
                     const ScoringOptionNames& words) {
  struct Unknown {
    int64_t first_line = 0, num_rows = 0;
  };
  std::map<std::pair<std::string, std::string>, Unknown> unknown;  // by file and data source
  for (const Prompt& prompt : prompts) {
    const Scorer* scorer = rules.scorer_of(prompt.data_source);
    if (OutsideScorer* outside = rules.outside_of(prompt.data_source)) {
      if (const auto fault = outside->find_fault(prompt)) {
        faults.add(fmt::format("{}:{}: {}", prompt.file, prompt.line, *fault));
      }
    } else if (scorer == nullptr) {
      Unknown& entry = unknown[{prompt.file, prompt.data_source}];
      if (entry.num_rows++ == 0) entry.first_line = prompt.line;
    } else if (const auto fault = find_fault(*scorer, prompt.ground_truth)) {
      const std::string of_source = prompt.data_source.empty() ? "" : " of " + prompt.data_source;
      faults.add(fmt::format("{}:{}: ground truth{}: {}", prompt.file, prompt.line, of_source, *fault));
    }
  }
  for (const auto& [place, entry] : unknown) {
    if (rules.scorer_name(place.second) == kCodeScorer) {
      faults.add(
          fmt::format("{}:{}: data source \"{}\" ({} rows) is scored by running the answers as programs; allow it with "
                      "{}, or name another scorer with {}",
                      place.first, entry.first_line, place.second, entry.num_rows, words.run_code, words.scorer));
      continue;
    }
    faults.add(fmt::format("{}:{}: no scorer for data source \"{}\" ({} rows); name one with {}{}", place.first,
                           entry.first_line, place.second, entry.num_rows, words.scorer,
                           words.takes_names ? "; known: " + list_known() : ""));
  }
}

}  // namespace hone
