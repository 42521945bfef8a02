// Scorers judge answers: pure functions of (answer, ground truth, how it ended). A score is a number or *absent* with
// the reason; absent never becomes 0. Which scorer judges a row says its data source, as in verl, unless there is a
// scorer of the user's own (outside_scorer.h).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/faults.h"
#include "records/prompt.h"
#include "records/trajectory.h"
#include "reward/answer.h"
#include "reward/format_term.h"
#include "reward/outside_scorer.h"

namespace hone {

struct Scorer {
  std::string_view name;
  std::string_view what;  // one line for people
  Score (*score)(const Answer& answer);
  // Why a ground truth cannot be read, or nothing.
  std::optional<std::string> (*find_unreadable)(std::string_view ground_truth);
  // The answer that repeats the ground truth behind the scorer's mark; null where a ground truth is no answer.
  std::string (*repeat)(std::string_view ground_truth) = nullptr;
};

// What is wrong with a ground truth, or nothing: it cannot be read, or not even the answer that repeats it is right.
std::optional<std::string> find_fault(const Scorer& scorer, std::string_view ground_truth);

const std::vector<Scorer>& scorers();
const Scorer* find_scorer(std::string_view name);  // nullptr: there is none

// A data source, or the beginning of several and '*', and the name of its scorer; the first that fits counts.
struct Route {
  std::string_view data_source, scorer;
};
const std::vector<Route>& routes();

// What a run sets beyond the routes.
struct ScoringRules {
  std::vector<std::pair<std::string, std::string>> scorers;  // data source ("*": all), scorer: before all else
  std::shared_ptr<OutsideScorer> custom;                     // the user's own, of all other rows
  std::shared_ptr<OutsideScorer> code;                       // of rows whose scorer is kCodeScorer, if it may run
  // reward = answer_weight * the scorer's number + format_weight * (the text has the format: 1 or 0)
  //        + length_weight * (of a right answer: the share of max_length that it leaves)
  double answer_weight = 1, format_weight = 0, length_weight = 0;
  Format format = Format::boxed;
  int64_t max_length = 0;  // ids of the longest answer

  OutsideScorer* outside_of(std::string_view data_source) const;  // nullptr: it has none, or one of ours
  const Scorer* scorer_of(std::string_view data_source) const;    // nullptr: there is none of ours
  int num_threads() const;                                        // that have a use for scoring
  // By data source; empty: there is none, or it is `custom`.
  std::string_view scorer_name(std::string_view data_source) const;
  bool is_sum() const { return answer_weight != 1 || format_weight != 0 || length_weight != 0; }
};

// By a scorer of ours. Raises Bug for a data source that find_unscorable() would have named. A scorer that fails, or
// gives NaN or an infinity, makes this one score absent. A sum also reports acc (unless the scorer does), and format
// and length, as far as they have a weight. An answer without a verdict is right when its number is above 0, and has no
// acc of ours.
Score score(const Answer& answer, const ScoringRules& rules = {});

// The same for several answers to one prompt, wherever they are judged. `draw` is that of the prompt in the run.
std::vector<Score> score_all(const Prompt& prompt, uint64_t draw, std::span<const Answer> answers,
                             const ScoringRules& rules);

// The scorer's own number. A failure makes it absent, as does an answer that was taken back before it ended.
Score score_with(const Scorer& scorer, const Answer& answer);

// NaN and infinities become absent.
Score finite_or_absent(Score given);

// What a user writes to name a scorer, and to let the answers run as programs.
struct ScoringOptionNames {
  std::string_view scorer = "reward.scorers", run_code = "reward.run_code=true";
  bool takes_names = true;  // of scorers of ours
};

// Before a run starts: adds data sources without scorer (once for each file, with the number of rows) and rows that
// have a fault for their scorer.
void find_unscorable(const std::vector<Prompt>& prompts, io::Faults& faults, const ScoringRules& rules = {},
                     const ScoringOptionNames& words = {});

}  // namespace hone
