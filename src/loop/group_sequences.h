// From groups to what the trainer sees.
#pragma once

#include <vector>

#include "records/train_sequence.h"
#include "records/trajectory.h"

namespace hone {

// Answers without ids, taken back or without a score take no part; those of a flat group do, with advantage 0: they
// count in the normalisers.
inline void append_sequences(const Group& group, std::vector<TrainSequence>& sequences) {
  for (const Trajectory& t : group.trajectories) {
    if (t.response_ids.empty() || t.finish == FinishReason::aborted || !t.score.value) continue;
    TrainSequence s;
    s.ids = t.prompt_ids;
    s.ids.insert(s.ids.end(), t.response_ids.begin(), t.response_ids.end());
    s.num_prompt = static_cast<int64_t>(t.prompt_ids.size());
    s.old_logprobs = t.logprobs;
    s.advantage = t.advantage;
    s.temperature = t.temperature;
    sequences.push_back(std::move(s));
  }
}

}  // namespace hone
