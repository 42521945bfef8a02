#include "reward/scorer.h"

#include <cmath>
#include <map>
#include <utility>

#include "core/error.h"
#include "reward/arithmetic.h"
#include "reward/countdown.h"
#include "reward/gsm8k.h"

namespace hone {

namespace {

struct Scorer {
  std::string_view data_source;
  Score (*score)(const Answer& answer);
  // What is wrong with a ground truth, or nothing.
  std::optional<std::string> (*find_fault)(std::string_view ground_truth);
};

constexpr Scorer kScorers[] = {
    {"hone/arithmetic", [](const Answer& a) { return score_arithmetic(a.text, a.ground_truth, a.finish); },
     find_arithmetic_fault},
    {"hone/countdown", [](const Answer& a) { return score_countdown(a.text, a.ground_truth); }, find_countdown_fault},
    {"openai/gsm8k", [](const Answer& a) { return score_gsm8k(a.text, a.ground_truth); }, find_gsm8k_fault},
};

const Scorer* find_scorer(std::string_view data_source) {
  for (const Scorer& scorer : kScorers) {
    if (scorer.data_source == data_source) return &scorer;
  }
  return nullptr;
}

std::string list_known() {
  std::string list;
  for (const Scorer& scorer : kScorers) list += (list.empty() ? "" : ", ") + std::string(scorer.data_source);
  return list;
}

}  // namespace

Score finite_or_absent(Score given) {
  if (given.value && !std::isfinite(*given.value)) {
    return {std::nullopt, fmt::format("the scorer gave {}", *given.value)};
  }
  return given;
}

Score score(const Answer& answer) {
  const Scorer* scorer = find_scorer(answer.data_source);
  HONE_CHECK(scorer != nullptr, "no scorer for data source '{}'", answer.data_source);
  try {
    return finite_or_absent(scorer->score(answer));
  } catch (const Error& error) {
    return {std::nullopt, fmt::format("the scorer failed: {}", error.what())};
  }
}

void find_unscorable(const std::vector<Prompt>& prompts, io::Faults& faults) {
  struct Unknown {
    int64_t first_line = 0, num_rows = 0;
  };
  std::map<std::pair<std::string, std::string>, Unknown> unknown;  // by file and data source
  for (const Prompt& prompt : prompts) {
    const Scorer* scorer = find_scorer(prompt.data_source);
    if (scorer == nullptr) {
      Unknown& entry = unknown[{prompt.file, prompt.data_source}];
      if (entry.num_rows++ == 0) entry.first_line = prompt.line;
    } else if (const auto fault = scorer->find_fault(prompt.ground_truth)) {
      faults.add(fmt::format("{}:{}: ground truth of {}: {}", prompt.file, prompt.line, prompt.data_source, *fault));
    }
  }
  for (const auto& [place, entry] : unknown) {
    faults.add(fmt::format("{}:{}: no scorer for data source \"{}\" ({} rows); known: {}", place.first,
                           entry.first_line, place.second, entry.num_rows, list_known()));
  }
}

}  // namespace hone
