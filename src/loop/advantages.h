// From the rewards of a step's answers to their advantages.
#pragma once

#include <span>

#include "algorithms/advantage.h"
#include "loop/metrics.h"
#include "records/trajectory.h"

namespace hone {

// Into the trajectories, with returns. An absent score and an answer of no ids take no part; ids without loss have no
// place in time and advantage 0.
void set_advantages(std::span<Group> groups, const algorithms::AdvantageEstimator& estimator,
                    const algorithms::AdvantageOptions& options, Metrics& metrics);

}  // namespace hone
