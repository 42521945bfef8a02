// The groups of a step between sampling and training: their metrics, and the guard against scorers that fail.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loop/metrics.h"
#include "records/trajectory.h"

namespace hone {

// Scores, advantages and lengths under verl's names.
void report_groups(std::span<const Group> groups, int64_t max_prompt_length, Metrics& metrics);

// Says on the error output which scores failed, in place of being withheld or undecided: the first few, and how many.
void tell_failed_scores(std::span<const Group> groups);

// What there is to say when more than this share of the scores is absent: how many, and the first with its reason.
// Otherwise empty.
std::string find_absence(std::span<const Group> groups, double max_absent_ratio);

}  // namespace hone
