// What the engine refuses before it takes a request: the faults of the outside world as Errors, with the sizes.
#pragma once

#include <string>

#include "models/model_config.h"
#include "rollout/sequence.h"

namespace hone {

// Where a prompt comes from, for messages: its file and line, or its draw.
std::string describe(const DrawnPrompt& drawn);

struct EngineRoom {
  int64_t num_kv_blocks = 0, max_num_batched_tokens = 0;
  int64_t max_ids = 0;  // of a sequence, as its scheduler says
};
// Raises Error when the prompt is empty or has ids the model does not know, when it and max_new_tokens exceed the
// model's positions or the room, or when the sampling leaves nothing to draw.
void check_request(const DrawnPrompt& drawn, const SamplingParams& sampling, const ModelConfig& config,
                   const EngineRoom& room);
// Raises Error when what was begun cannot go on under this sampling.
void check_goes_on(const UnfinishedGroup& unfinished, const SamplingParams& sampling, int64_t vocab_size);

}  // namespace hone
