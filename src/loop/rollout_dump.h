// Dumps of samples in verl's JSONL form, one line a sample: input, output, gts, score (null when absent), reward where
// it is not the score, step, what the scorer reports beside (acc, pred, ...), and Hone's own: ids, log-probs and policy
// versions, by which every number of a step can be computed again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/json.h"
#include "records/trajectory.h"

namespace hone {

// Writes the same lines to each of the paths, whole or not at all; their folders are made.
void write_rollouts(const std::vector<std::string>& paths, int64_t global_step, std::span<const Group> groups);

// A key for what a scorer reports, in an object that may have the name itself: with "extra_" in front then.
std::string free_key(const io::Json& object, std::string name);

// Samples for people to read, `count` of them spread evenly over the groups.
std::string show_samples(int64_t count, int64_t global_step, std::span<const Group> groups);

}  // namespace hone
