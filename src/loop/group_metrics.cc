#include "loop/group_metrics.h"

#include <fmt/core.h>

#include "algorithms/advantage.h"
#include "loop/step_metrics.h"

namespace hone {

namespace {

struct Lengths {
  Spread ids;
  int64_t cut = 0, answers = 0;

  void add(const Trajectory& t) {
    ids.add(static_cast<double>(t.response_ids.size()));
    cut += t.finish == FinishReason::length;
    ++answers;
  }
  void report(Metrics& metrics, const std::string& name) const {
    if (answers == 0) return;
    ids.report(metrics, name);
    metrics.set(name + "/clip_ratio", static_cast<double>(cut) / static_cast<double>(answers));
  }
};

}  // namespace

void set_advantages(std::span<Group> groups, bool norm_by_std, Metrics& metrics) {
  int64_t num_flat = 0, num_absent = 0, num_lone = 0;
  for (Group& group : groups) {
    std::vector<std::optional<float>> scores;
    for (const Trajectory& t : group.trajectories) {
      scores.push_back(t.response_ids.empty() ? std::nullopt : t.reward);
      num_absent += !t.score.value.has_value();
    }
    const auto result = algorithms::grpo_advantages(scores, norm_by_std);
    for (size_t i = 0; i < scores.size(); ++i) group.trajectories[i].advantage = result.advantages[i];
    num_flat += result.flat;
    num_lone += static_cast<int64_t>(scores.size()) - result.num_absent < 2;
  }
  metrics.set("training/flat_group_ratio", static_cast<double>(num_flat) / static_cast<double>(groups.size()));
  metrics.set("training/num_absent_scores", static_cast<double>(num_absent));
  metrics.set("training/num_lone_groups", static_cast<double>(num_lone));
}

void report_groups(std::span<const Group> groups, int64_t max_prompt_length, Metrics& metrics) {
  Spread score, reward, advantage, prompt;
  Lengths all, non_aborted;
  int64_t longest_prompts = 0;
  double tokens = 0;
  for (const Group& group : groups) {
    for (const Trajectory& t : group.trajectories) {
      const auto length = static_cast<int64_t>(t.response_ids.size());
      const auto prompt_length = static_cast<int64_t>(t.prompt_ids.size());
      if (t.score.value && length > 0) score.add(double{*t.score.value});
      if (t.reward && length > 0) reward.add(double{*t.reward});
      advantage.add(double{t.advantage}, length);
      prompt.add(static_cast<double>(prompt_length));
      longest_prompts += prompt_length == max_prompt_length;
      tokens += static_cast<double>(prompt_length + length);
      all.add(t);
      if (length > 0) non_aborted.add(t);
    }
  }
  const auto answers = static_cast<double>(all.answers);
  score.report(metrics, "critic/score");
  reward.report(metrics, "critic/rewards");
  advantage.report(metrics, "critic/advantages");
  advantage.report(metrics, "critic/returns");
  all.report(metrics, "response_length");
  non_aborted.report(metrics, "response_length_non_aborted");
  metrics.set("response/aborted_ratio", static_cast<double>(all.answers - non_aborted.answers) / answers);
  prompt.report(metrics, "prompt_length");
  metrics.set("prompt_length/clip_ratio", static_cast<double>(longest_prompts) / answers);
  metrics.set("perf/total_num_tokens", tokens);
}

std::string find_absence(std::span<const Group> groups, double max_absent_ratio) {
  int64_t absent = 0, answers = 0;
  std::string first;
  for (const Group& group : groups) {
    for (const Trajectory& t : group.trajectories) {
      ++answers;
      if (t.score.value) continue;
      if (absent++ > 0) continue;
      const Prompt& prompt = *group.drawn.prompt;
      first = fmt::format("{}:{}, sample {}: {}", prompt.file, prompt.line, t.sample, t.score.reason);
    }
  }
  if (static_cast<double>(absent) <= max_absent_ratio * static_cast<double>(answers)) return "";
  return fmt::format(
      "{} of {} scores are absent, more than the share {} that reward.max_absent_ratio allows; the first: {}", absent,
      answers, max_absent_ratio, first);
}

}  // namespace hone
