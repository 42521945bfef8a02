// From the scores of a training rollout to the rewards that advantages are made from.
#pragma once

#include <optional>
#include <span>

#include "loop/metrics.h"
#include "records/trajectory.h"
#include "reward/overlong.h"

namespace hone {

// The reward of every answer that has a score: the scorer's number and, with a buffer, the overlong penalty; with `log`
// that penalty and whether there is one join what the scorer reports, as overlong_reward and overlong.
void set_rewards(std::span<Group> groups, const std::optional<OverlongBuffer>& overlong, bool log);

// What overlong shaping took from the rewards of these groups.
void report_overlong(std::span<const Group> groups, const OverlongBuffer& overlong, Metrics& metrics);

}  // namespace hone
