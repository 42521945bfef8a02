#include "loop/training_rollout.h"

#include <algorithm>
#include <cmath>

#include "io/file.h"
#include "loop/evaluate.h"
#include "loop/progress.h"
#include "loop/step_metrics.h"
#include "rollout/unfinished_file.h"

namespace hone {

namespace {

std::string lengths_path(const std::string& folder) { return io::join_path(folder, "answer_lengths.json"); }
std::string unfinished_path(const std::string& folder) { return io::join_path(folder, "unfinished.json"); }

// A group that is complete, but was not among the first.
UnfinishedGroup kept_for_later(Group&& group) {
  UnfinishedGroup kept;
  kept.drawn = group.drawn;
  for (Trajectory& t : group.trajectories) {
    kept.temperature = t.temperature;
    kept.samples.push_back({std::move(t.response_ids), std::move(t.logprobs), std::move(t.versions), t.finish});
  }
  return kept;
}

bool earlier(const DrawnPrompt& a, const DrawnPrompt& b) { return a.draw < b.draw; }

std::vector<AnswerLength> lengths_of(const Group& group) {
  std::vector<AnswerLength> lengths;
  for (const Trajectory& t : group.trajectories) {
    if (t.finish == FinishReason::aborted) continue;
    lengths.push_back({static_cast<int64_t>(t.response_ids.size()), t.capped});
  }
  return lengths;
}

double mean_length(std::span<const AnswerLength> lengths) {
  double sum = 0;
  for (const AnswerLength& length : lengths) sum += static_cast<double>(length.num_ids);
  return sum / static_cast<double>(lengths.size());
}

}  // namespace

PromptSourceOptions prompt_source_options(const Recipe& recipe) {
  const SamplerRecipe& sampler = recipe.data.sampler;
  PromptSourceOptions options;
  options.batch_size = recipe.data.train_batch_size;
  options.shuffle = recipe.data.shuffle;
  options.seed = recipe.data_seed();
  options.order_by_length = sampler.class_name.has_value();
  options.learn_lengths = options.order_by_length || recipe.rollout.early_stop.enable;
  options.ema_decay = sampler.ema_decay;
  options.default_length =
      static_cast<double>(sampler.default_length.value_or(std::max<int64_t>(1, recipe.data.max_response_length / 2)));
  options.length_order.bucket_size = sampler.bucket_size;
  options.length_order.random_in_bucket = sampler.order_in_bucket == "random";
  options.length_order.shuffle_blocks = sampler.shuffle_batch_blocks;
  return options;
}

TrainingRollout::TrainingRollout(const Recipe& recipe, const GrpoInputs& inputs, Engine& engine, bool quiet)
    : recipe_(recipe),
      inputs_(inputs),
      engine_(engine),
      quiet_(quiet),
      source_(inputs.train, prompt_source_options(recipe)),
      saved_{source_, {}} {}

std::vector<Group> TrainingRollout::roll_out(int32_t version, Metrics& metrics) {
  const auto num_carried = static_cast<int64_t>(carried_.size());
  std::vector<DrawnPrompt> drawn = source_.next(std::max<int64_t>(0, groups_in_flight(recipe_) - num_carried));
  if (recipe_.data.sampler.class_name) longest_first(source_, drawn);
  const SamplingParams params = sampling(drawn);
  const EngineStats before = engine_.stats();
  std::vector<Group> groups;
  TaskQueue scoring("scoring", recipe_.rollout.task_queue > 0);
  {
    Timed timed(metrics, "gen");
    run_phase(drawn, params, groups, scoring);
  }
  // work is ordered by draw, never by who finished first
  std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return earlier(a.drawn, b.drawn); });
  {
    Timed timed(metrics, "reward");
    scoring.wait();
  }
  metrics.set("timing_s/reward_hidden", scoring.hidden_seconds());
  const EngineStats after = engine_.stats();
  metrics.set("rollout/num_preemptions", static_cast<double>(after.num_preemptions - before.num_preemptions));
  metrics.set("rollout/num_reused_tokens", static_cast<double>(after.num_reused - before.num_reused));
  metrics.set("rollout/num_engine_steps", static_cast<double>(after.num_steps - before.num_steps));
  metrics.set("timing_per_token_ms/gen",
              1000 * metrics.get("timing_s/gen") /
                  static_cast<double>(std::max<int64_t>(1, after.num_generated - before.num_generated)));
  if (source_.learns_lengths()) report_lengths(groups, metrics);
  if (recipe_.rollout.early_stop.enable) report_early_stop(groups, params.max_new_tokens, metrics);
  if (recipe_.rollout.over_sample_rate > 0 || num_carried > 0) {
    metrics.set("rollout/num_carried_in", static_cast<double>(num_carried));
    report_ages(groups, version, metrics);
  }
  return groups;
}

double TrainingRollout::expected_length(std::span<const DrawnPrompt> drawn) const {
  double sum = 0;
  for (const UnfinishedGroup& group : carried_) sum += source_.expected_length(*group.drawn.prompt);
  for (const DrawnPrompt& prompt : drawn) sum += source_.expected_length(*prompt.prompt);
  return sum / static_cast<double>(carried_.size() + drawn.size());
}

SamplingParams TrainingRollout::sampling(std::span<const DrawnPrompt> drawn) const {
  SamplingParams sampling;
  sampling.temperature = static_cast<float>(recipe_.rollout.temperature);
  sampling.max_new_tokens = recipe_.data.max_response_length;
  if (const EarlyStopRecipe& stop = recipe_.rollout.early_stop; stop.enable) {
    sampling.max_new_tokens =
        early_stop_cap(expected_length(drawn), stop.factor, stop.min_tokens, recipe_.data.max_response_length);
  }
  sampling.end_ids = inputs_.end_ids.ids;
  sampling.ignore_eos = recipe_.rollout.ignore_eos;
  sampling.key = {static_cast<uint64_t>(recipe_.trainer.seed), Stream::train};
  sampling.valid_vocab = inputs_.tokenizer.vocab_size();
  return sampling;
}

void TrainingRollout::run_phase(std::span<const DrawnPrompt> drawn, const SamplingParams& sampling,
                                std::vector<Group>& groups, TaskQueue& scoring) {
  const auto wanted = static_cast<size_t>(recipe_.data.train_batch_size);
  Progress progress("rollout", recipe_.data.train_batch_size, quiet_);
  for (const UnfinishedGroup& group : carried_) engine_.add(group, sampling);
  for (const DrawnPrompt& prompt : drawn) engine_.add(prompt, static_cast<int>(recipe_.rollout.n), sampling);
  for (bool more = true; more;) {  // groups: by the engine step that completed them, then by draw
    for (Group& group : engine_.take_finished()) {
      groups.push_back(std::move(group));
      if (groups.size() <= wanted) score_group_later(scoring, groups.back(), inputs_.tokenizer);
    }
    progress.update(static_cast<int64_t>(std::min(groups.size(), wanted)));
    more = groups.size() < wanted && engine_.has_work();
    if (more) engine_.step();
  }
  HONE_CHECK(groups.size() >= wanted, "{} of {} groups", groups.size(), wanted);
  carried_ = engine_.take_unfinished();
  for (size_t g = wanted; g < groups.size(); ++g) carried_.push_back(kept_for_later(std::move(groups[g])));
  std::sort(carried_.begin(), carried_.end(), [](const auto& a, const auto& b) { return earlier(a.drawn, b.drawn); });
  groups.resize(wanted);
  for (Group& group : groups) {
    for (Trajectory& t : group.trajectories) {
      const auto length = static_cast<int64_t>(t.response_ids.size());
      t.capped = t.finish == FinishReason::length && length < recipe_.data.max_response_length;
    }
  }
}

void TrainingRollout::report_lengths(std::span<const Group> groups, Metrics& metrics) const {
  Spread expected, error, length;
  int64_t known = 0, bounds = 0;
  for (const Group& group : groups) {
    const Prompt& prompt = *group.drawn.prompt;
    const std::vector<AnswerLength> lengths = lengths_of(group);
    for (const AnswerLength& answer : lengths) length.add(static_cast<double>(answer.num_ids));
    expected.add(source_.expected_length(prompt));
    if (source_.estimate(prompt).times_observed == 0) continue;
    ++known;
    bounds += source_.estimate(prompt).is_bound;
    if (!lengths.empty()) error.add(std::abs(source_.expected_length(prompt) - mean_length(lengths)));
  }
  const auto count = static_cast<double>(groups.size());
  expected.report(metrics, "sampler/expected_length");
  error.report(metrics, "sampler/estimate_error");
  metrics.set("sampler/known_ratio", static_cast<double>(known) / count);
  metrics.set("sampler/bound_ratio", static_cast<double>(bounds) / count);
  if (length.mean() > 0) metrics.set("sampler/tail_ratio", length.max() / length.mean());
}

void TrainingRollout::report_early_stop(std::span<const Group> groups, int64_t cap, Metrics& metrics) const {
  double answers = 0, cut_answers = 0, ids = 0, cut_ids = 0;
  for (const Group& group : groups) {
    for (const Trajectory& t : group.trajectories) {
      const auto length = static_cast<double>(t.response_ids.size());
      answers += 1;
      ids += length;
      if (!t.capped) continue;
      cut_answers += 1;
      cut_ids += length;
    }
  }
  metrics.set("rollout/response_max_tokens_cap", static_cast<double>(cap));
  metrics.set("rollout/early_stop/answer_ratio", cut_answers / answers);
  metrics.set("rollout/early_stop/token_ratio", cut_ids / std::max(1.0, ids));
}

void TrainingRollout::report_ages(std::span<const Group> groups, int32_t version, Metrics& metrics) const {
  Spread age;
  double ids = 0, old_ids = 0, carried_ids = 0;
  for (const Group& group : groups) {
    for (const Trajectory& t : group.trajectories) {
      for (const int32_t drawn_by : t.versions) {
        age.add(static_cast<double>(version - drawn_by));
        ids += 1;
        old_ids += drawn_by != version;
      }
    }
  }
  for (const UnfinishedGroup& group : carried_) {
    for (const UnfinishedSample& sample : group.samples) carried_ids += static_cast<double>(sample.response_ids.size());
  }
  metrics.set("rollout/num_carried_out", static_cast<double>(carried_.size()));
  metrics.set("rollout/num_carried_ids", carried_ids);
  metrics.set("rollout/old_token_ratio", old_ids / std::max(1.0, ids));
  age.report(metrics, "rollout/staleness");
}

void TrainingRollout::end_step(std::span<const Group> groups) {
  if (source_.learns_lengths()) {
    for (const Group& group : groups) {
      const std::vector<AnswerLength> lengths = lengths_of(group);
      if (!lengths.empty()) source_.observe(*group.drawn.prompt, lengths);
    }
  }
  saved_ = {source_, carried_};
}

void TrainingRollout::save(const std::string& folder) const {
  if (saved_.source.learns_lengths()) saved_.source.write_lengths(lengths_path(folder));
  if (!saved_.carried.empty()) write_unfinished(unfinished_path(folder), saved_.carried, inputs_.train);
}

void TrainingRollout::restore(const DataPosition& position, const std::string& folder, bool same_data) {
  source_.restore(position);
  const bool has_lengths = source_.learns_lengths() && io::exists(lengths_path(folder));
  const bool has_unfinished = io::exists(unfinished_path(folder));
  if (same_data && has_lengths) source_.read_lengths(lengths_path(folder));
  if (same_data && has_unfinished) carried_ = read_unfinished(unfinished_path(folder), inputs_.train);
  if (!same_data && (has_lengths || has_unfinished)) {
    fmt::print(stderr, "note: the data are others: expected lengths and unfinished answers in {} are left out\n",
               folder);
  }
  saved_ = {source_, carried_};
}

}  // namespace hone
