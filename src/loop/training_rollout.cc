#include "loop/training_rollout.h"

#include <algorithm>

#include "algorithms/advantage.h"
#include "io/file.h"
#include "loop/evaluate.h"
#include "loop/group_metrics.h"
#include "loop/progress.h"
#include "loop/rewards.h"
#include "loop/run.h"
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

}  // namespace

PromptSourceOptions prompt_source_options(const Recipe& recipe) {
  const SamplerRecipe& sampler = recipe.data.sampler;
  PromptSourceOptions options;
  options.batch_size = recipe.gen_batch_size();
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
  const bool filters = recipe_.algorithm.filter_groups.enable;
  const EngineStats before = engine_.stats();
  LengthReport lengths;
  std::vector<Group> groups;
  if (filters) {
    groups = sample_dynamically(lengths, metrics);
  } else {
    Phase phase = run_phase(metrics);
    observe(phase, lengths);
    groups = std::move(phase.groups);
  }
  if (algorithms::find_advantage_estimator(recipe_.algorithm.adv_estimator)->has_baseline) {
    set_baselines(groups, metrics);
  }
  const EngineStats after = engine_.stats();
  metrics.set("rollout/num_preemptions", static_cast<double>(after.num_preemptions - before.num_preemptions));
  metrics.set("rollout/num_reused_tokens", static_cast<double>(after.num_reused - before.num_reused));
  metrics.set("rollout/num_engine_steps", static_cast<double>(after.num_steps - before.num_steps));
  metrics.set("timing_per_token_ms/gen",
              1000 * metrics.get("timing_s/gen") /
                  static_cast<double>(std::max<int64_t>(1, after.num_generated - before.num_generated)));
  if (source_.learns_lengths()) lengths.report_lengths(metrics);
  if (recipe_.rollout.early_stop.enable) lengths.report_early_stop(metrics);
  if (recipe_.rollout.over_sample_rate > 0 || recipe_.algorithm.filter_groups.keep_surplus || num_carried > 0) {
    metrics.set("rollout/num_carried_in", static_cast<double>(num_carried));
    report_ages(groups, version, metrics);
  }
  return groups;
}

std::vector<Group> TrainingRollout::sample_dynamically(LengthReport& lengths, Metrics& metrics) {
  const FilterGroupsRecipe& recipe = recipe_.algorithm.filter_groups;
  const auto wanted = static_cast<size_t>(recipe_.data.train_batch_size);
  DynamicSampling dynamic(*filter_metric(*recipe.metric), recipe_.data.train_batch_size, recipe.max_num_gen_batches,
                          static_cast<int64_t>(inputs_.train.size()));
  std::vector<Group> kept;
  while (kept.size() < wanted) {
    Phase phase = run_phase(metrics);
    observe(phase, lengths);
    if (const std::string absence = find_absence(phase.groups, recipe_.reward.max_absent_ratio); !absence.empty()) {
      throw StoppedByGuard(absence, "mend the scorer; the run then goes on");
    }
    dynamic.filter(std::move(phase.groups), kept);
    if (const auto reason = dynamic.reason_to_end()) {
      throw StoppedByGuard(*reason,
                           "take data that the model solves at times, more answers to a prompt "
                           "(actor_rollout_ref.rollout.n), or allow more generation batches");
    }
  }
  dynamic.report(metrics);
  std::sort(kept.begin(), kept.end(), [](const Group& a, const Group& b) { return earlier(a.drawn, b.drawn); });
  if (recipe.keep_surplus) {
    for (size_t g = wanted; g < kept.size(); ++g) carry(std::move(kept[g]));
  }
  kept.resize(wanted);
  return kept;
}

int TrainingRollout::num_scoring_threads() const {
  return recipe_.rollout.task_queue > 0 ? inputs_.scoring.num_threads() : 0;
}

TrainingRollout::Phase TrainingRollout::run_phase(Metrics& metrics) {
  const auto num_carried = static_cast<int64_t>(carried_.size());
  std::vector<DrawnPrompt> drawn = source_.next(std::max<int64_t>(0, groups_in_flight(recipe_) - num_carried));
  if (recipe_.data.sampler.class_name) longest_first(source_, drawn);
  const SamplingParams params = sampling(drawn);
  TaskQueue scoring("scoring", num_scoring_threads());
  Phase phase;
  phase.cap = params.max_new_tokens;
  {
    Timed timed(metrics, "gen");
    phase.groups = generate(drawn, params, scoring);
  }
  // work is ordered by draw, never by who finished first
  std::sort(phase.groups.begin(), phase.groups.end(),
            [](const Group& a, const Group& b) { return earlier(a.drawn, b.drawn); });
  {
    Timed timed(metrics, "reward");
    scoring.wait();
    tell_failed_scores(phase.groups);
    set_rewards(phase.groups, overlong_buffer(recipe_), recipe_.reward.overlong.log);
  }
  metrics.add("timing_s/reward_hidden", scoring.hidden_seconds());
  return phase;
}

void TrainingRollout::observe(const Phase& phase, LengthReport& lengths) {
  if (!source_.learns_lengths()) return;
  lengths.add(source_, phase.groups, phase.cap);
  for (const Group& group : phase.groups) {
    const std::vector<AnswerLength> answers = lengths_of(group);
    if (!answers.empty()) source_.observe(*group.drawn.prompt, answers);
  }
}

void TrainingRollout::set_baselines(std::span<Group> groups, Metrics& metrics) {
  Timed timed(metrics, "gen_max");
  SamplingParams greedy = sampling({});
  greedy.temperature = 0;
  greedy.max_new_tokens = recipe_.data.max_response_length;
  for (const Group& group : groups) engine_.add(group.drawn, 1, greedy);
  std::vector<Group> answers = engine_.run_all();  // by draw, as the groups are
  HONE_CHECK(answers.size() == groups.size(), "{} greedy answers to {} prompts", answers.size(), groups.size());
  TaskQueue scoring("scoring", num_scoring_threads());
  for (Group& answer : answers) score_group_later(scoring, answer, inputs_.tokenizer, inputs_.scoring);
  scoring.wait();
  set_rewards(answers, overlong_buffer(recipe_), false);
  Spread rewards;
  int64_t num_absent = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    groups[g].baseline = answers[g].trajectories.front().reward;
    num_absent += !groups[g].baseline;
    if (groups[g].baseline) rewards.add(double{*groups[g].baseline});
  }
  rewards.report(metrics, "critic/baseline");
  metrics.set("training/num_absent_baselines", static_cast<double>(num_absent));
}

void TrainingRollout::carry(Group&& group) {
  const auto place =
      std::find_if(carried_.begin(), carried_.end(), [&](const auto& c) { return earlier(group.drawn, c.drawn); });
  carried_.insert(place, kept_for_later(std::move(group)));
}

bool TrainingRollout::has_used_all_epochs() const {
  const TrainerRecipe& trainer = recipe_.trainer;
  return recipe_.algorithm.filter_groups.enable && !trainer.total_training_steps && epoch() >= trainer.total_epochs;
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

std::vector<Group> TrainingRollout::generate(std::span<const DrawnPrompt> drawn, const SamplingParams& sampling,
                                             TaskQueue& scoring) {
  const auto wanted = static_cast<size_t>(recipe_.gen_batch_size());
  Progress progress("rollout", recipe_.gen_batch_size(), quiet_);
  std::vector<Group> groups;
  for (const UnfinishedGroup& group : carried_) engine_.add(group, sampling);
  for (const DrawnPrompt& prompt : drawn) engine_.add(prompt, static_cast<int>(recipe_.rollout.n), sampling);
  for (bool more = true; more;) {  // groups: by the engine step that completed them, then by draw
    for (Group& group : engine_.take_finished()) {
      groups.push_back(std::move(group));
      if (groups.size() <= wanted) score_group_later(scoring, groups.back(), inputs_.tokenizer, inputs_.scoring);
    }
    progress.update(static_cast<int64_t>(std::min(groups.size(), wanted)));
    more = groups.size() < wanted && engine_.has_work();
    if (more) engine_.step();
  }
  HONE_CHECK(groups.size() >= wanted, "{} of {} groups", groups.size(), wanted);
  carried_ = engine_.take_unfinished();
  for (size_t g = wanted; g < groups.size(); ++g) carry(std::move(groups[g]));
  groups.resize(wanted);
  for (Group& group : groups) {
    for (Trajectory& t : group.trajectories) {
      const auto length = static_cast<int64_t>(t.response_ids.size());
      t.capped = t.finish == FinishReason::length && length < recipe_.data.max_response_length;
    }
  }
  return groups;
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
