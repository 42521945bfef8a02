// hone score: scores the answers of JSONL files, and shows where two scorers differ.
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "cli/commands.h"
#include "cli/scoring_arguments.h"
#include "core/error.h"
#include "io/jsonl.h"
#include "io/utf8.h"
#include "prompts/row_file.h"
#include "reward/answer_row.h"
#include "reward/code_scorer.h"
#include "reward/scorer.h"

namespace hone::cli {

namespace {

constexpr std::string_view kRecorded = "recorded";

void list_scorers() {
  const auto list = [](std::string_view scorer, std::string_view what) {
    fmt::print("{:<18} {}\n", scorer, what);
    for (const Route& route : routes()) {
      if (route.scorer == scorer) fmt::print("{:<18}   {}\n", "", route.data_source);
    }
  };
  for (const Scorer& scorer : scorers()) list(scorer.name, scorer.what);
  list(kCodeScorer, "the answer as a program, on test cases; reward.run_code=true or --run-code allows it");
}

// The same rules, with this scorer for every row.
ScoringRules all_by(const std::string& option, const std::string& name, ScoringRules rules) {
  if (name == kCodeScorer && rules.code == nullptr) {
    throw Error(fmt::format("{}: {} runs the answers as programs", option, name), "allow it with --run-code");
  }
  if (name != kCodeScorer && find_scorer(name) == nullptr) {
    throw Error(fmt::format("{}: '{}' is no scorer", option, name), "hone score --list shows them");
  }
  rules.scorers = {{"*", name}};
  return rules;
}

struct FileAnswer {
  AnswerRow answer;
  Prompt prompt;  // without ids

  std::string place() const { return fmt::format("{}:{}", prompt.file, prompt.line); }
  Score score_by(const ScoringRules& rules) const {
    const Answer given = answer.answer();
    return score_all(prompt, 0, {&given, 1}, rules).front();
  }
};

FileAnswer row_of(const std::string& file, const io::JsonRow& json, const ScoringRules& rules) {
  FileAnswer row;
  row.answer = read_answer_row(json.value, rules.custom == nullptr);
  if (const io::Json* input = json.value.find("input"); input != nullptr && input->is_string()) {
    row.prompt.text = input->as_string();
  }
  row.prompt.data_source = row.answer.data_source;
  row.prompt.ground_truth = row.answer.ground_truth;
  row.prompt.ground_truth_json = row.answer.ground_truth_json;
  row.prompt.file = file;
  row.prompt.line = json.line;
  if (rules.custom != nullptr) row.prompt.row = json.value.dump();
  return row;
}

// Gives every row with an answer to take(FileAnswer&&); the others are faults.
template <class Take>
void read_answers(const std::string& file, const ScoringRules& rules, io::Faults& faults, const Take& take) {
  read_rows(file, faults, [&](io::JsonRow&& json) {
    try {
      take(row_of(file, json, rules));
    } catch (const Error& error) {
      faults.add(fmt::format("{}:{}: {}", file, json.line, error.what()));
    }
  });
}

void raise_if_any(const io::Faults& faults) {
  faults.raise_if_any("not every row can be scored", "hone score --list shows the scorers");
}

// All faults of all files, before the first score.
void check_rows(const std::vector<std::string>& files, const ScoringRules& rules) {
  io::Faults faults;
  for (const std::string& file : files) {
    std::vector<Prompt> prompts;
    read_answers(file, rules, faults, [&](FileAnswer&& row) {
      if (!prompts.empty())
        row.prompt.row.clear(), row.prompt.ground_truth_json.clear();  // only the first one's is looked at
      prompts.push_back(std::move(row.prompt));
    });
    find_unscorable(prompts, faults, rules, {"--scorer", "--run-code"});
  }
  raise_if_any(faults);
}

struct Tally {
  int64_t rows = 0, right = 0, wrong = 0, no_answer = 0, undecided = 0, absent = 0, differ = 0;
  double sum = 0;

  void add(const Score& score) {
    ++rows;
    if (score.value) {
      sum += double{*score.value};
    } else {
      ++absent;
    }
    if (!score.verdict) return;
    right += *score.verdict == Verdict::right;
    wrong += *score.verdict == Verdict::wrong;
    no_answer += *score.verdict == Verdict::no_answer;
    undecided += *score.verdict == Verdict::undecided;
  }
  io::Json json() const {
    io::Json line = io::Json::object();
    line.set("rows", rows);
    line.set("mean_score", rows > absent ? io::Json(sum / static_cast<double>(rows - absent)) : io::Json());
    line.set("right", right);
    line.set("wrong", wrong);
    line.set("no_answer", no_answer);
    line.set("undecided", undecided);
    line.set("absent", absent);
    return line;
  }
};

std::string pred_of(const Score& score) {
  const ScoreExtra* extra = find_extra(score, "pred");
  const auto* text = extra == nullptr ? nullptr : std::get_if<std::string>(&extra->value);
  return text == nullptr ? "" : *text;
}

const char* verdict_of(const Score& score) { return score.verdict ? name(*score.verdict) : "none"; }
io::Json value_of(const Score& score) { return score.value ? io::Json(*score.value) : io::Json(); }

io::Json row_json(const FileAnswer& row, const std::string& scorer, const Score& score) {
  io::Json line = io::Json::object();
  line.set("place", row.place());
  line.set("data_source", row.answer.data_source);
  line.set("scorer", scorer);
  line.set("score", value_of(score));
  line.set("verdict", verdict_of(score));
  line.set("pred", pred_of(score));
  line.set("reason", score.reason);
  line.set("ground_truth", row.answer.ground_truth);
  return line;
}

// What another scorer says, or the row's own score.
struct Second {
  std::string verdict, pred;
  io::Json value;
};

std::optional<Second> differing(const FileAnswer& row, const Score& first, const ScoringRules* other) {
  if (other == nullptr) {
    const std::optional<double>&recorded = row.answer.recorded_score, &acc = row.answer.recorded_acc;
    if (acc) {  // the score may be a sum
      const bool right = first.verdict ? *first.verdict == Verdict::right : first.value.value_or(0) > 0;
      const bool same = first.value && right == (*acc > 0);
      return same ? std::nullopt : std::optional(Second{"recorded", "", *acc});
    }
    if (!recorded) return {};
    const bool same = first.value && std::abs(double{*first.value} - *recorded) <= 1e-6;
    return same ? std::nullopt : std::optional(Second{"recorded", "", *recorded});
  }
  const Score second = row.score_by(*other);
  const bool same =
      !first.verdict && first.value && second.value && std::abs(double{*first.value} - double{*second.value}) <= 1e-6;
  if (same || (first.verdict == second.verdict && first.value.has_value() == second.value.has_value())) return {};
  return Second{verdict_of(second), pred_of(second), value_of(second)};
}

std::string last_bytes(const std::string& text) {
  constexpr size_t kShown = 160;
  if (text.size() <= kShown) return io::visible(text);
  return "..." + io::visible(std::string_view(text).substr(text.size() - kShown));
}

void print_difference(const ScoreArgs& args, const FileAnswer& row, const std::string& scorer, const Score& first,
                      const Second& second) {
  if (args.json) {
    io::Json line = row_json(row, scorer, first);
    line.set("other", args.audit);
    line.set("other_verdict", second.verdict);
    line.set("other_score", second.value);
    line.set("other_pred", second.pred);
    fmt::print("{}\n", line.dump());
    return;
  }
  fmt::print("{}: ground truth {}\n", row.place(), io::visible(row.answer.ground_truth));
  fmt::print("  {:<18} {:<10} {} \"{}\"\n", scorer, verdict_of(first), value_of(first).dump(),
             io::visible(pred_of(first)));
  fmt::print("  {:<18} {:<10} {} \"{}\"\n", args.audit, second.verdict, second.value.dump(), io::visible(second.pred));
  fmt::print("  ends with          {}\n", last_bytes(row.answer.text));
}

void print_tallies(const ScoreArgs& args, const std::map<std::pair<std::string, std::string>, Tally>& tallies) {
  for (const auto& [key, tally] : tallies) {
    const auto& [source, scorer] = key;
    if (args.json) {
      io::Json line = tally.json();
      line.set("data_source", source);
      line.set("scorer", scorer);
      if (!args.audit.empty()) line.set("differ", tally.differ);
      fmt::print("{}\n", line.dump());
      continue;
    }
    const std::string mean = tally.rows > tally.absent
                                 ? fmt::format("{:.4f}", tally.sum / static_cast<double>(tally.rows - tally.absent))
                                 : "-";
    fmt::print("{} by {}: mean {} over {} rows; right {}, wrong {}, no answer {}, undecided {}, absent {}",
               source.empty() ? "rows" : io::visible(source), scorer, mean, tally.rows, tally.right, tally.wrong,
               tally.no_answer, tally.undecided, tally.absent);
    if (!args.audit.empty()) fmt::print("; {} and {} differ on {}", scorer, args.audit, tally.differ);
    fmt::print("\n");
  }
}

}  // namespace

int run_score(const ScoreArgs& args) {
  if (args.list) {
    list_scorers();
    return 0;
  }
  if (args.files.empty()) throw Error("no file to score", "hone score FILE.jsonl, or --list");
  if (!args.custom.function.empty() && !args.scorer.empty()) {
    throw Error("--scorer and --custom-reward: each scores all rows; name one");
  }
  const ScoringRules given = scoring_of(args.custom, 1);
  const ScoringRules rules = args.scorer.empty() ? given : all_by("--scorer", args.scorer, given);
  std::optional<ScoringRules> other;
  if (!args.audit.empty() && args.audit != kRecorded) other = all_by("--audit", args.audit, given);
  check_rows(args.files, rules);
  std::map<std::pair<std::string, std::string>, Tally> tallies;
  const auto take = [&](const FileAnswer& row) {
    const std::string& source = row.prompt.data_source;
    const std::string scorer = rules.custom ? args.custom.function : std::string(rules.scorer_name(source));
    Tally& tally = tallies[{source, scorer}];
    const Score score = row.score_by(rules);
    tally.add(score);
    if (args.audit.empty()) {
      if (args.json) fmt::print("{}\n", row_json(row, scorer, score).dump());
      return;
    }
    const auto second = differing(row, score, other ? &*other : nullptr);
    if (!second) return;
    ++tally.differ;
    print_difference(args, row, scorer, score, *second);
  };
  io::Faults faults;
  for (const std::string& file : args.files) read_answers(file, rules, faults, take);
  raise_if_any(faults);
  print_tallies(args, tallies);
  return 0;
}

}  // namespace hone::cli
