#include "loop/group_metrics.h"

#include <fmt/core.h>

#include "io/utf8.h"
#include "loop/step_metrics.h"
#include "reward/outside_scorer.h"

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

// One number for all ids, or one each.
void add_tokens(Spread& spread, float all, const std::vector<float>& each, int64_t length) {
  if (each.empty()) spread.add(double{all}, length);
  for (float value : each) spread.add(double{value});
}

}  // namespace

void report_groups(std::span<const Group> groups, int64_t max_prompt_length, Metrics& metrics) {
  Spread score, reward, advantage, returns, prompt;
  Lengths all, non_aborted;
  int64_t longest_prompts = 0;
  double tokens = 0;
  for (const Group& group : groups) {
    for (const Trajectory& t : group.trajectories) {
      const auto length = static_cast<int64_t>(t.response_ids.size());
      const auto prompt_length = static_cast<int64_t>(t.prompt_ids.size());
      if (t.score.value && length > 0) score.add(double{*t.score.value});
      if (t.reward && length > 0) {
        double total = double{*t.reward};
        for (const float beside : t.token_rewards) total += double{beside};
        reward.add(total);
      }
      add_tokens(advantage, t.advantage, t.advantages, length);
      t.returns.empty() ? add_tokens(returns, t.advantage, t.advantages, length)
                        : add_tokens(returns, 0, t.returns, length);
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
  returns.report(metrics, "critic/returns");
  all.report(metrics, "response_length");
  non_aborted.report(metrics, "response_length_non_aborted");
  metrics.set("response/aborted_ratio", static_cast<double>(all.answers - non_aborted.answers) / answers);
  prompt.report(metrics, "prompt_length");
  metrics.set("prompt_length/clip_ratio", static_cast<double>(longest_prompts) / answers);
  metrics.set("perf/total_num_tokens", tokens);
}

void tell_failed_scores(std::span<const Group> groups) {
  constexpr int64_t kMostTold = 5;
  int64_t failed = 0;
  for (const Group& group : groups) {
    for (const Trajectory& t : group.trajectories) {
      const bool has_failed =
          !t.score.value && !t.score.verdict && t.finish != FinishReason::aborted && t.score.reason != kWithheld;
      if (!has_failed || ++failed > kMostTold) continue;
      const Prompt& prompt = *group.drawn.prompt;
      fmt::print(stderr, "note: {}:{}, sample {}: no score: {}\n", prompt.file, prompt.line, t.sample,
                 io::visible(t.score.reason));
    }
  }
  if (failed > kMostTold) fmt::print(stderr, "note: ... and {} samples more without a score\n", failed - kMostTold);
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
