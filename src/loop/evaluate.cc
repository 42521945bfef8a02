#include "loop/evaluate.h"

#include <algorithm>
#include <map>
#include <optional>
#include <type_traits>
#include <variant>

#include "core/error.h"
#include "loop/group_metrics.h"

namespace hone {

namespace {

void score_answers(std::span<Trajectory> trajectories, const Prompt& prompt, const Tokenizer& tokenizer,
                   const ScoringRules& rules) {
  std::vector<Answer> answers;
  std::vector<Trajectory*> answered;
  for (Trajectory& t : trajectories) {
    t.response_text = tokenizer.decode(t.response_ids, true);
    t.score = {std::nullopt, "aborted"};
    if (t.finish == FinishReason::aborted) continue;
    answered.push_back(&t);
    answers.push_back({prompt.data_source, t.response_text, prompt.ground_truth, t.finish,
                       static_cast<int64_t>(t.response_ids.size()), t.sample});
  }
  if (answers.empty()) return;
  std::vector<Score> scores = score_all(prompt, answered.front()->draw, answers, rules);
  for (size_t i = 0; i < scores.size(); ++i) answered[i]->score = std::move(scores[i]);
}

}  // namespace

void score_group_later(TaskQueue& queue, Group& group, const Tokenizer& tokenizer, const ScoringRules& rules) {
  static_assert(std::is_nothrow_move_constructible_v<Group>);  // so that vectors of groups move them as they grow
  const OutsideScorer* outside = rules.outside_of(group.drawn.prompt->data_source);
  const std::span<Trajectory> all = group.trajectories;
  const size_t together = outside == nullptr || outside->takes_groups() ? std::max<size_t>(1, all.size()) : 1;
  for (size_t begin = 0; begin < all.size(); begin += together) {
    queue.add([answers = all.subspan(begin, std::min(together, all.size() - begin)), prompt = group.drawn.prompt,
               &tokenizer, rules] { score_answers(answers, *prompt, tokenizer, rules); });
  }
}

double Evaluation::mean() const {
  double sum = 0;
  int64_t count = 0;
  for (const SourceScores& source : sources) {
    sum += source.mean * static_cast<double>(source.num_scored);
    count += source.num_scored;
  }
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

void Evaluation::report(Metrics& metrics, int64_t n) const {
  const std::string largest = fmt::format("@{}", n);
  for (const SourceScores& source : sources) {
    const auto has_name = [](const char* name) { return [name](const VariableScores& v) { return v.name == name; }; };
    const bool has_acc = std::any_of(source.variables.begin(), source.variables.end(), has_name("acc"));
    for (const VariableScores& variable : source.variables) {
      for (const auto& [name, value] : variable.numbers) {
        const bool is_core = variable.name == (has_acc ? "acc" : "reward") &&
                             (name.starts_with("mean") || name.starts_with("maj") || name.starts_with("best")) &&
                             name.find(largest) != std::string::npos;
        metrics.set(
            fmt::format("{}/{}/{}/{}", is_core ? "val-core" : "val-aux", source.data_source, variable.name, name),
            value);
      }
    }
    const std::string rest = "val-aux/" + source.data_source + "/";
    if (n > 1 && source.num_scored > 0) {
      metrics.set(fmt::format("{}reward/pass@{}", rest, n), source.pass.back().second);
    }
    metrics.set(rest + "response_length/mean", source.response_length);
    metrics.set(rest + "response_length/clip_ratio", source.clip_ratio);
    metrics.set(rest + "num_absent", static_cast<double>(source.num_absent));
  }
}

namespace {

// Means over the prompts that have a number, by variable and name in the order in which they first came.
class MeansOverPrompts {
 public:
  void add(const std::string& variable, const NamedNumbers& numbers) {
    for (const auto& [name, value] : numbers) {
      Sum& sum = find(find(variables_, variable), name);
      sum.total += value;
      sum.count += 1;
    }
  }
  std::vector<VariableScores> means() const {
    std::vector<VariableScores> result;
    for (const auto& [variable, sums] : variables_) {
      result.push_back({variable, {}});
      for (const auto& [name, sum] : sums) result.back().numbers.emplace_back(name, sum.total / sum.count);
    }
    return result;
  }

 private:
  struct Sum {
    double total = 0, count = 0;
  };
  template <class Value>
  using Named = std::vector<std::pair<std::string, Value>>;
  template <class Value>
  static Value& find(Named<Value>& named, const std::string& name) {
    for (auto& [key, value] : named) {
      if (key == name) return value;
    }
    return named.emplace_back(name, Value{}).second;
  }
  Named<Named<Sum>> variables_;
};

// What the samples of a prompt have of one variable, and, when all of these say it, what they answer (`pred`).
struct Samples {
  std::vector<double> values;
  std::vector<std::string> answers;

  void add(double value, const Score& score) {
    values.push_back(value);
    const ScoreExtra* extra = find_extra(score, "pred");
    const auto* pred = extra == nullptr ? nullptr : std::get_if<std::string>(&extra->value);
    if (pred != nullptr) answers.push_back(*pred);
  }
  NamedNumbers statistics(SampleStatistics& statistics, int64_t n) const {
    return statistics.of(values, answers.size() == values.size() ? answers : std::vector<std::string>(), n);
  }
};

// Adds to source.pass what this prompt's samples give; the sums are divided at the end.
void add_pass(int64_t num_scored, int64_t num_right, SourceScores& source) {
  for (auto& [k, sum] : source.pass) sum += pass_at_k(num_scored, num_right, std::min(k, num_scored));
}

// The prompt's mean reward; nothing where every score is absent.
std::optional<double> add_prompt(const Group& group, int64_t n, SourceScores& source, MeansOverPrompts& means,
                                 SampleStatistics& statistics) {
  std::vector<std::pair<std::string, Samples>> variables{{"reward", {}}};
  int64_t num_right = 0;
  for (const Trajectory& t : group.trajectories) {
    source.response_length += static_cast<double>(t.response_ids.size());
    source.clip_ratio += t.finish == FinishReason::length;
    source.num_absent += !t.score.value;
    if (!t.score.value) continue;
    variables.front().second.add(double{*t.score.value}, t.score);
    num_right += *t.score.value > 0;
    for (const ScoreExtra& extra : t.score.extras) {
      const auto* number = std::get_if<double>(&extra.value);
      if (number == nullptr) continue;
      const std::string name = shown_name(extra);
      const auto is_same = [&](const auto& variable) { return variable.first == name; };
      auto place = std::find_if(variables.begin(), variables.end(), is_same);
      if (place == variables.end()) place = variables.insert(place, {name, {}});
      place->second.add(*number, t.score);
    }
  }
  ++source.num_prompts;
  if (variables.front().second.values.empty()) return std::nullopt;
  ++source.num_scored;
  add_pass(std::ssize(variables.front().second.values), num_right, source);
  std::optional<double> mean;
  for (const auto& [name, samples] : variables) {
    const NamedNumbers numbers = samples.statistics(statistics, n);
    if (!mean) mean = numbers.front().second;
    means.add(name, numbers);
  }
  return mean;
}

}  // namespace

Evaluation summarise(std::vector<Group> groups, int64_t n) {
  std::map<std::string, SourceScores> by_source;
  std::map<std::string, MeansOverPrompts> means;
  std::map<std::string, std::vector<double>> of_prompts;
  SampleStatistics statistics;
  for (const Group& group : groups) {
    const std::string& name = group.drawn.prompt->data_source;
    SourceScores& source = by_source[name];
    if (source.pass.empty()) {
      source.pass = {{1, 0.0}};
      for (const int64_t k : subset_sizes(n)) source.pass.emplace_back(k, 0.0);
    }
    const std::optional<double> mean = add_prompt(group, n, source, means[name], statistics);
    if (mean) of_prompts[name].push_back(*mean);
  }
  Evaluation result;
  for (auto& [name, source] : by_source) {
    source.data_source = name;
    const double answers = static_cast<double>(source.num_prompts * n);
    source.response_length /= answers;
    source.clip_ratio /= answers;
    for (auto& [k, sum] : source.pass) sum /= static_cast<double>(std::max<int64_t>(1, source.num_scored));
    source.variables = means[name].means();
    if (!source.variables.empty()) {
      source.mean = source.variables.front().numbers.front().second;
      source.mean_interval = mean_interval(of_prompts[name]);
    }
    result.sources.push_back(std::move(source));
  }
  result.groups = std::move(groups);
  return result;
}

Evaluation evaluate(Engine& engine, const Tokenizer& tokenizer, std::span<const Prompt> prompts,
                    const EvaluationOptions& options, const std::function<void(int64_t)>& progress,
                    EvaluationFile* file) {
  SamplingParams sampling;
  sampling.temperature = static_cast<float>(options.temperature);
  sampling.filter = options.filter;
  sampling.max_new_tokens = options.max_new_tokens;
  sampling.end_ids = options.end_ids;
  sampling.key = {options.seed, Stream::validation};
  sampling.valid_vocab = tokenizer.vocab_size();
  std::vector<Group> groups(prompts.size());
  TaskQueue scoring("scoring", options.score_beside ? options.scoring.num_threads() : 0);
  int64_t done = 0;
  const auto take = [&](Group&& group) {
    Group& place = groups[group.drawn.draw];
    HONE_CHECK(place.trajectories.empty(), "prompt {} is answered twice", group.drawn.draw);
    place = std::move(group);
    score_group_later(scoring, place, tokenizer, options.scoring);
    ++done;
  };
  if (file != nullptr) {
    for (Group& group : file->take_groups()) take(std::move(group));
  }
  for (size_t p = 0; p < prompts.size(); ++p) {
    if (!groups[p].trajectories.empty()) continue;
    engine.add({&prompts[p], static_cast<uint64_t>(p)}, static_cast<int>(options.n), sampling);
  }
  const auto take_finished = [&] {
    for (Group& group : engine.take_finished()) {
      if (file != nullptr) file->add(group);
      take(std::move(group));
    }
    if (progress) progress(done);
  };
  while (engine.step()) take_finished();
  take_finished();
  scoring.wait();
  tell_failed_scores(groups);
  return summarise(std::move(groups), options.n);
}

}  // namespace hone
