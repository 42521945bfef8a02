#include "loop/length_report.h"

#include <algorithm>
#include <cmath>

namespace hone {

namespace {

double mean_length(std::span<const AnswerLength> lengths) {
  double sum = 0;
  for (const AnswerLength& length : lengths) sum += static_cast<double>(length.num_ids);
  return sum / static_cast<double>(lengths.size());
}

}  // namespace

std::vector<AnswerLength> lengths_of(const Group& group) {
  std::vector<AnswerLength> lengths;
  for (const Trajectory& t : group.trajectories) {
    if (t.finish == FinishReason::aborted) continue;
    lengths.push_back({static_cast<int64_t>(t.response_ids.size()), t.capped});
  }
  return lengths;
}

void LengthReport::add(const PromptSource& source, std::span<const Group> groups, int64_t cap) {
  cap_ = std::max(cap_, cap);
  for (const Group& group : groups) {
    for (const Trajectory& t : group.trajectories) {
      const auto ids = static_cast<double>(t.response_ids.size());
      answers_ += 1;
      ids_ += ids;
      cut_answers_ += t.capped;
      cut_ids_ += t.capped ? ids : 0.0;
    }
    groups_ += 1;
    const Prompt& prompt = *group.drawn.prompt;
    const std::vector<AnswerLength> lengths = lengths_of(group);
    for (const AnswerLength& answer : lengths) length_.add(static_cast<double>(answer.num_ids));
    expected_.add(source.expected_length(prompt));
    if (source.estimate(prompt).times_observed == 0) continue;
    known_ += 1;
    bounds_ += source.estimate(prompt).is_bound;
    if (!lengths.empty()) error_.add(std::abs(source.expected_length(prompt) - mean_length(lengths)));
  }
}

void LengthReport::report_lengths(Metrics& metrics) const {
  expected_.report(metrics, "sampler/expected_length");
  error_.report(metrics, "sampler/estimate_error");
  metrics.set("sampler/known_ratio", known_ / groups_);
  metrics.set("sampler/bound_ratio", bounds_ / groups_);
  if (length_.mean() > 0) metrics.set("sampler/tail_ratio", length_.max() / length_.mean());
}

void LengthReport::report_early_stop(Metrics& metrics) const {
  metrics.set("rollout/response_max_tokens_cap", static_cast<double>(cap_));
  metrics.set("rollout/early_stop/answer_ratio", cut_answers_ / answers_);
  metrics.set("rollout/early_stop/token_ratio", cut_ids_ / std::max(1.0, ids_));
}

}  // namespace hone
