#include "loop/metrics.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace hone {

namespace {

constexpr MetricDefinition both(std::string_view name, std::string_view definition) { return {name, definition}; }
constexpr MetricDefinition rl(std::string_view name, std::string_view definition) {
  return {name, definition, true, false};
}
constexpr MetricDefinition sft(std::string_view name, std::string_view definition) {
  return {name, definition, false, true};
}

constexpr MetricDefinition kDefinitions[] = {
    both("training/global_step", "Number of the step, from 1; 0 is the validation before training."),
    both("training/epoch", "Epoch the step's first prompt was drawn in, from 0."),
    rl("training/rollout_probs_diff_{valid,max,mean,std}",
       "|exp(log-prob in training) - exp(log-prob in sampling)| over the tokens of the step's first update: 0 by law 1 "
       "of what the current weights drew. valid = 1: there were such tokens."),
    rl("training/old_log_prob_diff_max",
       "Largest |log-prob scored before the updates - log-prob in sampling| over ids that the current weights drew: 0 "
       "by "
       "law 1."),
    rl("training/num_rescored_answers", "Answers that were scored for that, or for a rollout correction."),
    rl("rollout_corr/{kl,k3_kl}",
       "Distance of the policy at the step's beginning from the one that drew: mean of rollout - training log-prob; of "
       "exp(d) - d - 1, d = training - rollout log-prob. Over tokens."),
    rl("rollout_corr/{training,rollout}_{ppl,log_ppl}",
       "Perplexity of an answer to the one and the other, and its logarithm; means over answers."),
    rl("rollout_corr/{log_ppl_diff,log_ppl_abs_diff,log_ppl_diff_max,log_ppl_diff_min}",
       "Training minus rollout log-perplexity of an answer: mean, mean size, largest, smallest."),
    rl("rollout_corr/ppl_ratio", "Mean over answers of training over rollout perplexity."),
    rl("rollout_corr/chi2_{token,seq}",
       "Mean of the squared ratio minus 1, ratios of tokens or of whole answers, training over rollout."),
    rl("rollout_corr/rollout_is_{mean,max,min,std}",
       "Importance weights over tokens (bypass mode: of the step's last update)."),
    rl("rollout_corr/rollout_is_eff_sample_size",
       "1 / mean((w / mean w)^2), w held in 1/threshold .. threshold: the share of tokens that still counts."),
    rl("rollout_corr/rollout_rs_masked_fraction", "Share of tokens that rejection leaves out."),
    rl("rollout_corr/rollout_rs_seq_masked_fraction", "Share of answers of which it leaves no token."),
    both("training/num_updates", "Optimizer steps applied in this step."),
    both("training/num_steps_not_finite", "Optimizer steps of this step undone because a gradient was not finite."),
    both("training/num_steps_zero_gradient", "Optimizer steps of this step left out because the whole gradient was 0."),
    rl("training/flat_group_ratio",
       "Share of groups none of whose answers has an advantage (of equal rewards, where they are compared)."),
    rl("training/num_absent_scores", "Answers without a score; they take no part in advantages."),
    rl("training/num_lone_groups",
       "Groups with fewer than two answers that take part, which compare with nothing: advantage 0."),
    rl("actor/pg_loss",
       "Policy loss without the entropy's term, aggregated by loss_agg_mode, mean over the step's updates (verl adds "
       "them up)."),
    rl("actor/kl_loss",
       "KL to the reference as kl_loss_type estimates it, aggregated by loss_agg_mode, without its coefficient; mean "
       "over "
       "the step's updates."),
    rl("actor/kl_coef", "Its coefficient."),
    rl("actor/entropy", "Entropy of the policy in nats, mean over response tokens."),
    rl("actor/pg_clipfrac", "Share of response tokens whose clipped surrogate was the larger one."),
    rl("actor/pg_clipfrac_lower", "Share of response tokens on which the dual clip was active."),
    rl("actor/ppo_kl", "Mean of log-prob in sampling minus log-prob in training over response tokens."),
    rl("actor/grad_norm", "Norm of the whole gradient before clipping, mean over the step's updates."),
    rl("actor/lr", "Learning rate of the step."),
    rl("critic/score/{mean,max,min}",
       "The scorer's number over answers that have ids and a score (verl's dapo manager: overlong shaping included)."),
    rl("critic/rewards/{mean,max,min}",
       "The reward that advantages are made from, KL in it included, over the same answers."),
    rl("critic/baseline/{mean,max,min}", "ReMax: reward of the greedy answer, over the step's prompts."),
    rl("training/num_absent_baselines",
       "ReMax: prompts whose greedy answer has no score; the advantages of their answers are 0."),
    rl("actor/reward_kl_penalty",
       "KL in the reward: mean over answers of the mean over their tokens, without its weight."),
    rl("actor/reward_kl_penalty_coeff", "KL in the reward: its weight in this step."),
    rl("critic/values/{mean,max,min}", "PPO: what the critic said when the step began, over response tokens."),
    rl("critic/vf_explained_var", "PPO: 1 - var(return - value) / var(return) over response tokens."),
    rl("critic/vf_loss", "PPO: the value loss, mean over the step's updates of the critic."),
    rl("critic/vf_clipfrac", "PPO: share of response tokens whose held value had the larger error."),
    rl("critic/vpred_mean", "PPO: what the critic says in its updates, mean over response tokens."),
    rl("critic/grad_norm", "PPO: norm of the critic's whole gradient before clipping, mean over its updates."),
    rl("critic/lr", "PPO: learning rate of the critic."),
    rl("critic/num_updates", "PPO: updates of the critic that were applied."),
    rl("critic/num_updates_not_finite", "PPO: updates of the critic undone because a gradient was not finite."),
    rl("timing_s/gen_max", "ReMax: seconds of the greedy answers."),
    rl("timing_s/values", "PPO: seconds of the critic's values."),
    rl("timing_s/update_critic", "PPO: seconds of the critic's updates."),
    rl("critic/advantages/{mean,max,min}", "The advantage over response tokens."),
    rl("critic/returns/{mean,max,min}",
       "The return over response tokens; of estimators that compare answers it is the advantage."),
    rl("response_length/{mean,max,min}", "Ids per answer."),
    rl("response_length/clip_ratio", "Share of answers cut at the limit (verl: of this very length)."),
    rl("response_length_non_aborted/{mean,max,min,clip_ratio}", "The same over answers that have ids."),
    rl("response/aborted_ratio", "Share of answers with no id at all."),
    rl("prompt_length/{mean,max,min}", "Ids per prompt, over answers."),
    rl("prompt_length/clip_ratio", "Share of prompts of exactly data.max_prompt_length ids."),
    rl("rollout/num_preemptions", "Samples sent back to recompute because cache blocks ran out."),
    rl("rollout/num_reused_tokens", "Tokens whose keys and values an earlier request had left in the cache."),
    rl("rollout/num_engine_steps", "Forward passes of the rollout."),
    rl("speculative_decoding/predict_times",
       "Times that an answer had drafts in an engine step; 0 without speculation."),
    rl("speculative_decoding/effective_times", "Of these, times that at least one draft was right."),
    rl("speculative_decoding/effective_percent", "Of predict_times the percentage that is effective_times."),
    rl("speculative_decoding/total_right_length", "Drafts that were right: tokens that took no step of their own."),
    rl("speculative_decoding/effective_length",
       "Right drafts of an effective time: total_right_length over effective_times."),
    rl("rollout/response_max_tokens_cap", "Early stop: most ids of an answer in this step."),
    rl("rollout/early_stop/{answer,token}_ratio",
       "Early stop: share of answers that it cut; share of the step's ids that are theirs."),
    rl("train/num_gen_batches", "Dynamic sampling: generation batches of the step."),
    rl("training/filtered_groups/{kept,solved,unsolved}_ratio",
       "Dynamic sampling: share of the groups drawn for the step whose answers differ in the metric; whose answers all "
       "have the same number above 0; the same number of at most 0."),
    rl("reward/overlong/{mean,ratio}", "Overlong shaping: mean penalty of an answer; share of answers that have one."),
    rl("rollout/num_carried_{in,out}",
       "Over-sampling, or surplus of dynamic sampling: groups of earlier steps that this one goes on with; left to "
       "later "
       "steps by it."),
    rl("rollout/num_carried_ids", "Ids that the groups left to later steps have so far."),
    rl("rollout/old_token_ratio", "Share of the step's ids that older weights drew than those of its rollout."),
    rl("rollout/staleness/{mean,max,min}", "Age of the step's ids at its rollout, in versions of the policy."),
    rl("sampler/expected_length/{mean,max,min}", "Ids expected of an answer, over the step's prompts."),
    rl("sampler/estimate_error/{mean,max,min}",
       "|expected - measured| mean ids of a group, over prompts that were answered before."),
    rl("sampler/{known,bound}_ratio",
       "Share of the step's prompts that were answered before; whose estimate is a lower bound, because early stop cut "
       "some of the last answers."),
    rl("sampler/tail_ratio", "Ids of the step's longest answer over those of the mean one."),
    rl("timing_s/gen", "Seconds of the rollout."),
    rl("timing_s/reward", "Seconds of scoring, after the rollout."),
    rl("timing_s/reward_hidden",
       "Seconds of scoring beside the rollout, which nobody waited for (rollout.task_queue)."),
    rl("timing_s/old_log_prob", "Seconds of scoring the step's answers once more, and of the rollout correction."),
    rl("timing_s/ref", "Seconds of scoring the step's answers with the reference."),
    rl("timing_s/adv", "Seconds of the advantages."),
    rl("timing_s/update_actor", "Seconds of the step's updates, publishing included."),
    rl("timing_s/update_weights", "Seconds of publishing new weights to the rollout; part of update_actor."),
    rl("timing_s/dump_rollout_generations", "Seconds of writing the step's samples."),
    both("timing_s/testing", "Seconds of the validation."),
    both("timing_s/save_checkpoint", "Seconds of the save after the step before this one."),
    both("timing_s/step", "Seconds of the step, without the save after it."),
    rl("timing_per_token_ms/gen", "Milliseconds of the rollout per id drawn."),
    rl("timing_per_token_ms/{adv,update_actor,values,update_critic}",
       "Milliseconds of the phase per id of prompts and answers."),
    both("perf/total_num_tokens", "Prompt and response ids of the step."),
    both("perf/time_per_step", "Seconds of the step, as timing_s/step."),
    both("perf/throughput", "Ids per second: total_num_tokens over time_per_step (the run is one device)."),
    both("perf/cpu_memory_used_gb", "Resident memory of the process in GiB."),
    sft("train/loss", "Mean negative log-prob of response tokens, nats."),
    sft("train/grad_norm", "Norm of the gradient before clipping."),
    sft("train/lr", "Learning rate of the step."),
    sft("val/loss", "Mean negative log-prob of the held-out responses' tokens, nats."),
    rl("val-core/*/mean@*", "Validation of a data source: mean over prompts of the mean over its N samples."),
    rl("val-core/*/best@*",
       "Mean or standard deviation of the best of N samples: over 1000 bootstrap draws (seed 42) of N of a prompt's "
       "samples with replacement; mean over prompts."),
    rl("val-core/*/maj@*",
       "The same of the value of the answer that most of the N samples give, where the scorer tells answers apart."),
    rl("val-aux/*/{mean,std,best,worst,maj,pass}@*",
       "Validation beside the core: other numbers of samples and of scorers, std@N of the N samples, worst@n, and "
       "pass@N "
       "(share of prompts with a score above 0)."),
    rl("val-aux/*/response_length/{mean,clip_ratio}", "Validation: ids per answer; share of answers cut at the limit."),
    rl("val-aux/*/num_absent", "Validation answers without a score; a prompt without any score is left out."),
};

bool matches(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (name.substr(0, star) != pattern.substr(0, star)) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (size_t begin = star; begin <= name.size(); ++begin) {
    if (matches(rest, name.substr(begin))) return true;
  }
  return false;
}

// Every text that the braces of a pattern stand for.
void expand(const std::string& pattern, std::vector<std::string>& texts) {
  const size_t open = pattern.find('{');
  if (open == std::string::npos) {
    texts.push_back(pattern);
    return;
  }
  const size_t close = pattern.find('}', open);
  for (size_t begin = open + 1; begin <= close;) {
    const size_t end = std::min(pattern.find(',', begin), close);
    expand(pattern.substr(0, open) + pattern.substr(begin, end - begin) + pattern.substr(close + 1), texts);
    begin = end + 1;
  }
}

}  // namespace

std::span<const MetricDefinition> metric_definitions() { return kDefinitions; }

std::vector<std::string> names_of(const MetricDefinition& definition) {
  std::vector<std::string> names;
  expand(std::string(definition.name), names);
  return names;
}

bool matches_metric(std::string_view pattern, std::string_view name) { return matches(pattern, name); }

std::optional<MetricDefinition> find_metric(std::string_view name) {
  for (const MetricDefinition& definition : kDefinitions) {
    if (definition.name == name) return definition;
    for (const std::string& pattern : names_of(definition)) {
      if (matches(pattern, name)) return definition;
    }
  }
  return std::nullopt;
}

bool is_clock_metric(std::string_view name) {
  return name.starts_with("timing") || (name.starts_with("perf/") && name != "perf/total_num_tokens");
}

void Metrics::set(const std::string& name, double value) {
  HONE_CHECK(find_metric(name).has_value(), "metric {} has no definition", name);
  for (auto& [key, held] : values_) {
    if (key == name) {
      held = value;
      return;
    }
  }
  values_.emplace_back(name, value);
}

void Metrics::add(const std::string& name, double value) { set(name, value + (has(name) ? get(name) : 0.0)); }

double Metrics::get(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  HONE_CHECK(false, "metric {} is not set", name);
}

bool Metrics::has(std::string_view name) const {
  return std::any_of(values_.begin(), values_.end(), [&](const auto& entry) { return entry.first == name; });
}

io::Json Metrics::json() const {
  io::Json line = io::Json::object();
  for (const auto& [name, value] : values_) {
    const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
    line.set(name, whole ? io::Json(static_cast<int64_t>(value)) : io::Json::number_or_null(value));
  }
  return line;
}

}  // namespace hone
