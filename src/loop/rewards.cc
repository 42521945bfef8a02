#include "loop/rewards.h"

#include "loop/step_metrics.h"

namespace hone {

namespace {

double penalty_of(const Trajectory& t, const OverlongBuffer& overlong) {
  return overlong_penalty(static_cast<int64_t>(t.response_ids.size()), overlong);
}

}  // namespace

void set_rewards(std::span<Group> groups, const std::optional<OverlongBuffer>& overlong, bool log) {
  for (Group& group : groups) {
    for (Trajectory& t : group.trajectories) {
      t.reward = t.score.value;
      if (!overlong || !t.score.value) continue;
      const double penalty = penalty_of(t, *overlong);
      t.reward = static_cast<float>(double{*t.score.value} + penalty);
      if (!log) continue;
      t.score.extras.push_back({"overlong_reward", penalty});
      t.score.extras.push_back({"overlong", penalty < 0 ? 1.0 : 0.0});
    }
  }
}

void report_overlong(std::span<const Group> groups, const OverlongBuffer& overlong, Metrics& metrics) {
  Spread penalty, has_one;
  for (const Group& group : groups) {
    for (const Trajectory& t : group.trajectories) {
      if (!t.reward) continue;
      penalty.add(penalty_of(t, overlong));
      has_one.add(penalty_of(t, overlong) < 0 ? 1 : 0);
    }
  }
  metrics.set("reward/overlong/mean", penalty.mean());
  metrics.set("reward/overlong/ratio", has_one.mean());
}

}  // namespace hone
