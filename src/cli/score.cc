// hone score: scores the answers of JSONL files, and shows where two scorers differ.
#include <cmath>
#include <map>
#include <set>

#include "cli/commands.h"
#include "cli/custom_reward.h"
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
  for (const Scorer& scorer : scorers()) {
    fmt::print("{:<18} {}\n", scorer.name, scorer.what);
    for (const Route& route : routes()) {
      if (route.scorer == scorer.name) fmt::print("{:<18}   {}\n", "", route.data_source);
    }
  }
  fmt::print("{:<18} the answer as a program, on test cases; reward.run_code=true allows it\n", kCodeScorer);
  for (const Route& route : routes()) {
    if (route.scorer == kCodeScorer) fmt::print("{:<18}   {}\n", "", route.data_source);
  }
}

const Scorer* scorer_named(const std::string& option, const std::string& name) {
  if (name.empty()) return nullptr;
  const Scorer* scorer = find_scorer(name);
  if (scorer == nullptr) {
    throw Error(fmt::format("{}: '{}' is no scorer", option, name), "hone score --list shows them");
  }
  return scorer;
}

struct Place {
  const std::string& file;
  int64_t line;
  std::string text() const { return fmt::format("{}:{}", file, line); }
};

// One of ours, or the user's own.
struct Judge {
  std::string name;
  const Scorer* ours = nullptr;
  OutsideScorer* outside = nullptr;

  std::optional<std::string> find_fault(const Prompt& prompt) const {
    return outside != nullptr ? outside->find_fault(prompt) : hone::find_fault(*ours, prompt.ground_truth);
  }
  Score score(const AnswerRow& row, const Prompt& prompt) const {
    const Answer answer = row.answer();
    if (outside == nullptr) return score_with(*ours, answer);
    return outside->score(prompt, 0, {&answer, 1}).front();
  }
};

Prompt prompt_of(const Place& place, const AnswerRow& row, const io::Json& json) {
  Prompt prompt;
  if (const io::Json* input = json.find("input"); input != nullptr && input->is_string())
    prompt.text = input->as_string();
  prompt.data_source = row.data_source;
  prompt.ground_truth = row.ground_truth;
  prompt.truth = row.truth;
  prompt.file = place.file;
  prompt.line = place.line;
  prompt.row = json.dump();
  return prompt;
}

// Takes every row that can be scored; the others are faults.
class Rows {
 public:
  Rows(const ScoreArgs& args, const Scorer* scorer, OutsideScorer* outside)
      : args_(args), scorer_(scorer), outside_(outside) {}

  template <class Take>
  void read(const Take& take) {
    io::Faults faults;
    for (const std::string& file : args_.files) {
      read_rows(file, faults, [&](io::JsonRow&& json) {
        const Place place{file, json.line};
        try {
          const AnswerRow row = read_answer_row(json.value, outside_ == nullptr);
          const Scorer* scorer = scorer_ != nullptr ? scorer_ : ScoringRules().scorer_of(row.data_source);
          if (outside_ != nullptr) {
            take(place, row, Judge{args_.custom.function, nullptr, outside_}, prompt_of(place, row, json.value));
          } else if (scorer == nullptr) {
            if (unknown_.insert(row.data_source).second) {
              faults.add(
                  fmt::format("{}: no scorer for data source \"{}\" (told once)", place.text(), row.data_source));
            }
          } else {
            take(place, row, Judge{std::string(scorer->name), scorer}, prompt_of(place, row, {}));
          }
        } catch (const Error& error) {
          faults.add(fmt::format("{}: {}", place.text(), error.what()));
        }
      });
    }
    faults.raise_if_any("not every row can be scored", "name a scorer with --scorer; hone score --list shows them");
  }

 private:
  const ScoreArgs& args_;
  const Scorer* scorer_;
  OutsideScorer* outside_;
  std::set<std::string> unknown_;
};

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

io::Json row_json(const Place& place, const AnswerRow& row, const Judge& judge, const Score& score) {
  io::Json line = io::Json::object();
  line.set("place", place.text());
  line.set("data_source", row.data_source);
  line.set("scorer", judge.name);
  line.set("score", value_of(score));
  line.set("verdict", verdict_of(score));
  line.set("pred", pred_of(score));
  line.set("reason", score.reason);
  line.set("ground_truth", row.ground_truth);
  return line;
}

// What another scorer says, or the row's own score.
struct Second {
  std::string verdict, pred;
  io::Json value;
};

std::optional<Second> differing(const AnswerRow& row, const Score& first, const Scorer* other) {
  if (other == nullptr) {
    if (row.recorded_acc) {  // the score may be a sum
      const bool right = first.verdict ? *first.verdict == Verdict::right : first.value.value_or(0) > 0;
      const bool same = first.value && right == (*row.recorded_acc > 0);
      return same ? std::nullopt : std::optional(Second{"recorded", "", *row.recorded_acc});
    }
    if (!row.recorded_score) return {};
    const bool same = first.value && std::abs(double{*first.value} - *row.recorded_score) <= 1e-6;
    return same ? std::nullopt : std::optional(Second{"recorded", "", *row.recorded_score});
  }
  const Score second = score_with(*other, row.answer());
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

void print_difference(const ScoreArgs& args, const Place& place, const AnswerRow& row, const Judge& judge,
                      const Score& first, const Second& second) {
  if (args.json) {
    io::Json line = row_json(place, row, judge, first);
    line.set("other", args.audit);
    line.set("other_verdict", second.verdict);
    line.set("other_score", second.value);
    line.set("other_pred", second.pred);
    fmt::print("{}\n", line.dump());
    return;
  }
  fmt::print("{}: ground truth {}\n", place.text(), io::visible(row.ground_truth));
  fmt::print("  {:<18} {:<10} {} \"{}\"\n", judge.name, verdict_of(first), value_of(first).dump(),
             io::visible(pred_of(first)));
  fmt::print("  {:<18} {:<10} {} \"{}\"\n", args.audit, second.verdict, second.value.dump(), io::visible(second.pred));
  fmt::print("  ends with          {}\n", last_bytes(row.text));
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
  const bool recorded = args.audit == kRecorded;
  const Scorer* other = recorded ? nullptr : scorer_named("--audit", args.audit);
  const std::shared_ptr<OutsideScorer> custom = custom_scorer(args.custom, 1);
  if (custom && !args.scorer.empty()) throw Error("--scorer and --custom-reward: each scores all rows; name one");
  Rows rows(args, scorer_named("--scorer", args.scorer), custom.get());
  // faults come first, all of them
  rows.read([](const Place&, const AnswerRow&, const Judge& judge, const Prompt& prompt) {
    if (const auto fault = judge.find_fault(prompt)) {
      throw Error(judge.ours != nullptr ? "ground truth: " + *fault : *fault);
    }
  });
  std::map<std::pair<std::string, std::string>, Tally> tallies;
  rows.read([&](const Place& place, const AnswerRow& row, const Judge& judge, const Prompt& prompt) {
    Tally& tally = tallies[{row.data_source, judge.name}];
    const Score score = judge.score(row, prompt);
    tally.add(score);
    if (args.audit.empty()) {
      if (args.json) fmt::print("{}\n", row_json(place, row, judge, score).dump());
      return;
    }
    const auto second = differing(row, score, other);
    if (!second) return;
    ++tally.differ;
    print_difference(args, place, row, judge, score, *second);
  });
  print_tallies(args, tallies);
  return 0;
}

}  // namespace hone::cli
