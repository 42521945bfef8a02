// Rows for supervised fine-tuning, one a line:
//   {"prompt": "...", "response": "..."}           both texts are encoded apart, as when sampling, and the
//                                                  response ends on the end id
//   {"messages": [...], "tools": [...]}            a conversation, rendered by the model's chat template; the
//                                                  loss is on what the assistant says
//   {"prompt": [...messages], "response": "..."}   the same with the answer apart
// TRL's field "completion", a text or messages, stands for "response" in rows that have no such field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/faults.h"
#include "prompts/chat_rows.h"
#include "prompts/truncation.h"
#include "records/prompt.h"
#include "text/tokenizer.h"

namespace hone {

struct SftSetOptions {
  std::vector<std::string> files;
  std::string prompt_key = "prompt";
  std::string response_key = "response";
  std::string messages_key = "messages";
  ChatRendering chat = {};
  int64_t max_length = 1024;  // ids of prompt, response and end
  // Of longer rows: left cuts the prompt, right cuts the response; both keep at least one id of each.
  Truncation truncation = Truncation::error;
  int64_t max_samples = -1;  // these three as RowChoice takes them
  bool shuffle = false;
  uint64_t seed = 0;
};

struct SftSet {
  std::vector<SftExample> examples;
  int64_t num_truncated = 0;  // of longer rows
};
// Adds every fault of every row to `faults`; call faults.raise_if_any() before using the examples.
SftSet load_sft_set(const SftSetOptions& options, const Tokenizer& tokenizer, int32_t end_id, io::Faults& faults);

uint64_t data_hash(const std::vector<SftExample>& examples);

}  // namespace hone
