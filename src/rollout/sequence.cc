#include "rollout/sequence.h"

#include <utility>

namespace hone {

namespace {

std::vector<int32_t> response_of(const Sequence& sequence) {
  return {sequence.ids.begin() + sequence.num_prompt, sequence.ids.end()};
}

// What is kept for long keeps no room for ids that were never drawn.
template <class T>
std::vector<T> take_exactly(std::vector<T>& numbers) {
  numbers.shrink_to_fit();
  return std::move(numbers);
}

}  // namespace

Trajectory take_trajectory(Sequence& sequence) {
  Trajectory t;
  t.draw = sequence.group->drawn.draw;
  t.sample = sequence.sample;
  t.prompt_ids = sequence.group->drawn.prompt->ids;
  t.response_ids = response_of(sequence);
  t.logprobs = take_exactly(sequence.logprobs);
  t.versions = take_exactly(sequence.versions);
  t.top_logprobs = std::move(sequence.top_logprobs);
  t.temperature = sequence.group->sampling.temperature;
  t.finish = sequence.finish;
  return t;
}

UnfinishedSample take_unfinished(Sequence& sequence) {
  UnfinishedSample sample;
  sample.response_ids = response_of(sequence);
  sample.logprobs = take_exactly(sequence.logprobs);
  sample.versions = take_exactly(sequence.versions);
  if (sequence.state == SequenceState::finished) sample.finish = sequence.finish;
  return sample;
}

void restore(Sequence& sequence, const UnfinishedSample& sample) {
  sequence.ids.insert(sequence.ids.end(), sample.response_ids.begin(), sample.response_ids.end());
  sequence.logprobs = sample.logprobs;
  sequence.versions = sample.versions;
  for (size_t i = 0; sequence.stop_text && i < sample.response_ids.size(); ++i) {
    sequence.stop_text->push(sample.response_ids[i], nullptr);
  }
  if (!sample.finish) return;
  sequence.state = SequenceState::finished;
  sequence.finish = *sample.finish;
}

}  // namespace hone
