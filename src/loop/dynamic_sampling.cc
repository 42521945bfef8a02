#include "loop/dynamic_sampling.h"

#include <fmt/core.h>

#include <algorithm>
#include <variant>

namespace hone {

namespace {

// Of the answers that can teach something.
std::vector<double> values_of(const Group& group, FilterMetric metric) {
  std::vector<double> values;
  for (const Trajectory& t : group.trajectories) {
    if (!t.score.value || !t.reward || t.response_ids.empty()) continue;
    values.push_back(metric == FilterMetric::reward ? double{*t.reward} : double{*t.score.value});
    if (metric != FilterMetric::acc) continue;
    for (const ScoreExtra& extra : t.score.extras) {
      const auto* number = std::get_if<double>(&extra.value);
      if (extra.name == "acc" && number != nullptr) values.back() = *number;
    }
  }
  return values;
}

}  // namespace

std::optional<FilterMetric> filter_metric(const std::string& name) {
  if (name == "acc") return FilterMetric::acc;
  if (name == "score") return FilterMetric::score;
  if (name == "seq_reward" || name == "seq_final_reward") return FilterMetric::reward;
  return std::nullopt;
}

bool answers_differ(const Group& group, FilterMetric metric) {
  if (group.trajectories.size() == 1) return true;
  const std::vector<double> values = values_of(group, metric);
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end();
}

void DynamicSampling::filter(std::vector<Group>&& batch, std::vector<Group>& kept) {
  ++num_batches_;
  for (Group& group : batch) {
    ++num_tried_;
    if (answers_differ(group, metric_)) {
      ++num_kept_;
      kept.push_back(std::move(group));
      continue;
    }
    const std::vector<double> values = values_of(group, metric_);
    if (values.empty()) continue;  // nothing is known of it
    ++(values.front() > 0 ? num_solved_ : num_unsolved_);
  }
}

std::optional<std::string> DynamicSampling::reason_to_end() const {
  const bool limit = max_batches_ > 0 && num_batches_ >= max_batches_;
  const bool hopeless = num_kept_ == 0 && num_tried_ >= num_prompts_ && num_batches_ >= 10;
  if (num_kept_ >= wanted_ || (!limit && !hopeless)) return std::nullopt;
  return fmt::format(
      "{} generation batches gave {} of the {} groups of a step{}: of {} groups {:.1f} % differ in their answers, "
      "{:.1f} % are solved by every answer, {:.1f} % by none",
      num_batches_, num_kept_, wanted_,
      limit ? ", and algorithm.filter_groups.max_num_gen_batches allows no more"
            : ", and a pass over the data gave none",
      num_tried_, 100 * share(num_kept_), 100 * share(num_solved_), 100 * share(num_unsolved_));
}

void DynamicSampling::report(Metrics& metrics) const {
  metrics.set("train/num_gen_batches", static_cast<double>(num_batches_));
  metrics.set("training/filtered_groups/kept_ratio", share(num_kept_));
  metrics.set("training/filtered_groups/solved_ratio", share(num_solved_));
  metrics.set("training/filtered_groups/unsolved_ratio", share(num_unsolved_));
}

}  // namespace hone
