#include "loop/metrics.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "io/json.h"

namespace hone {

namespace {

constexpr MetricDefinition kDefinitions[] = {
    {"training/global_step", "Number of the step, from 1."},
    {"training/epoch", "Epoch the step's last prompt was drawn in, from 0."},
    {"training/rollout_probs_diff_max",
     "Largest |exp(log-prob in training) - exp(log-prob in sampling)| over the tokens of the step's first update; 0 by "
     "law 1."},
    {"training/num_updates", "Optimizer steps applied in this step."},
    {"training/num_steps_not_finite", "Optimizer steps of this step undone because a gradient was not finite."},
    {"training/num_steps_zero_gradient", "Optimizer steps of this step left out because the whole gradient was 0."},
    {"training/flat_group_ratio",
     "Share of groups in which all scores are equal, so that nothing is learnt from them."},
    {"training/num_absent_scores", "Answers without a score; they take no part in advantages."},
    {"actor/pg_loss", "Policy loss, aggregated by loss_agg_mode, mean over the step's updates."},
    {"actor/entropy", "Entropy of the policy in nats, mean over response tokens."},
    {"actor/pg_clipfrac", "Share of response tokens whose clipped surrogate was the larger one."},
    {"actor/pg_clipfrac_lower", "Share of response tokens on which the dual clip was active."},
    {"actor/ppo_kl", "Mean of log-prob in sampling minus log-prob in training over response tokens."},
    {"actor/grad_norm", "Norm of the whole gradient before clipping, mean over the step's updates."},
    {"actor/lr", "Learning rate of the step."},
    {"critic/score/*", "mean, max, min over answers of the scorer's number (absent ones left out)."},
    {"critic/rewards/*", "mean, max, min over answers of the reward that advantages are made from."},
    {"critic/advantages/*", "mean, max, min over response tokens of the advantage."},
    {"response_length/*", "mean, max, min of ids per answer; clip_ratio = share of answers cut at the limit."},
    {"prompt_length/*", "mean, max, min of ids per prompt."},
    {"response/aborted_ratio", "Share of answers with no id at all."},
    {"rollout/num_preemptions", "Samples sent back to recompute because cache blocks ran out."},
    {"rollout/num_engine_steps", "Forward passes of the rollout."},
    {"timing_s/*", "Seconds of a phase: gen, reward, adv, update_actor, testing, step (saving apart)."},
    {"timing_per_token_ms/*", "Milliseconds per token: gen over response tokens."},
    {"perf/total_num_tokens", "Prompt and response tokens of the step."},
    {"perf/time_per_step", "Seconds of the step."},
    {"perf/throughput", "Tokens per second of the step."},
    {"perf/cpu_memory_used_gb", "Resident memory of the process in GiB."},
    {"train/loss", "SFT loss: mean negative log-prob of response tokens, nats."},
    {"train/grad_norm", "SFT: norm of the gradient before clipping."},
    {"train/lr", "SFT: learning rate of the step."},
    {"val/loss", "SFT: mean negative log-prob of the held-out responses' tokens, nats."},
    {"val-core/*/mean@*", "Validation score of a data source, mean over prompts and N samples."},
    {"val-core/*/pass@*", "Share of prompts of a data source with at least one of N samples scored above 0."},
    {"val-aux/*", "Validation beside the score: response_length/mean, clip_ratio, num_absent."},
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

}  // namespace

std::span<const MetricDefinition> metric_definitions() { return kDefinitions; }

std::optional<MetricDefinition> find_metric(std::string_view name) {
  for (const MetricDefinition& definition : kDefinitions) {
    if (definition.name == name || matches(definition.name, name)) return definition;
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

std::string Metrics::json_line() const {
  io::Json line = io::Json::object();
  for (const auto& [name, value] : values_) {
    const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
    line.set(name, whole ? io::Json(static_cast<int64_t>(value)) : io::Json::number_or_null(value));
  }
  return line.dump();
}

}  // namespace hone
