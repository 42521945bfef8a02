// From groups to what the trainer sees.
#pragma once

#include <span>
#include <vector>

#include "records/train_sequence.h"
#include "records/trajectory.h"

namespace hone {

inline TrainSequence sequence_of(const Trajectory& t) {
  TrainSequence s;
  s.ids = t.prompt_ids;
  s.ids.insert(s.ids.end(), t.response_ids.begin(), t.response_ids.end());
  s.num_prompt = static_cast<int64_t>(t.prompt_ids.size());
  s.loss_mask = t.loss_mask;
  s.old_logprobs = t.effective_old_logprobs();
  if (!t.old_logprobs.empty()) s.rollout_logprobs = t.logprobs;
  s.ref_logprobs = t.ref_logprobs;
  s.advantage = t.advantage;
  s.advantages = t.advantages;
  s.weights = t.weights;
  s.values = t.values;
  s.returns = t.returns.empty() ? t.advantages : t.returns;
  s.temperature = t.temperature;
  return s;
}

// Answers without ids, taken back or without a score take no part; those of a flat group do, with advantage 0: they
// count in the normalisers.
inline bool takes_part(const Trajectory& t) {
  return !t.response_ids.empty() && t.finish != FinishReason::aborted && t.score.value.has_value();
}

// Of all groups those that take part, in order.
inline std::vector<Trajectory*> trained_answers(std::span<Group> groups) {
  std::vector<Trajectory*> answers;
  for (Group& group : groups) {
    for (Trajectory& t : group.trajectories) {
      if (takes_part(t)) answers.push_back(&t);
    }
  }
  return answers;
}

inline std::vector<TrainSequence> sequences_of(const std::vector<Trajectory*>& answers) {
  std::vector<TrainSequence> sequences;
  for (const Trajectory* t : answers) sequences.push_back(sequence_of(*t));
  return sequences;
}

inline void append_sequences(const Group& group, std::vector<TrainSequence>& sequences) {
  for (const Trajectory& t : group.trajectories) {
    if (takes_part(t)) sequences.push_back(sequence_of(t));
  }
}

}  // namespace hone
