// Prompt: one row of a data set, ready to be sampled. Tokens travel as ids; text is for people and scorers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone {

struct Prompt {
  std::vector<int32_t> ids;
  std::string text;          // as read (chat messages: as rendered)
  std::string data_source;   // picks the scorer, names validation metrics
  std::string ground_truth;  // given to the scorer
  std::string file;          // where the row stands, for messages
  int64_t line = 0;
  std::string row = {};                // the whole row as JSON, where a scorer may want it
  std::string ground_truth_json = {};  // then also the ground truth as JSON, of the kind that it has there
};

// A prompt as the run draws it: `draw` is the running number of the prompt in this run and never repeats.
struct DrawnPrompt {
  const Prompt* prompt = nullptr;  // owned by the data set, which outlives the run
  uint64_t draw = 0;
};

// A row for supervised fine-tuning: the loss is on the response ids alone (an end id included), and of these on those
// with a 1 in the mask, where there is one (conversations of several turns).
struct SftExample {
  std::vector<int32_t> prompt_ids;
  std::vector<int32_t> response_ids;
  std::vector<uint8_t> loss_mask;  // [response], or empty
};

}  // namespace hone
