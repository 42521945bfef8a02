// PromptSet: the rows of a data set as prompts, of any file that row_file.h reads. Rows have verl's form:
//   {"data_source": "...", "prompt": "...", "reward_model": {"ground_truth": "..."}, ...}
// or TRL's, or are questions with answers: {"prompt": "...", "answer": "..."} (ground_truth.h).
// A prompt that is a text is encoded as it stands, after the ids that the tokenizer puts before every text; special
// tokens inside it stay text. A prompt that is a list of chat messages is rendered by the model's chat template.
// Not read yet: images.
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

struct PromptSetOptions {
  std::vector<std::string> files;
  std::string prompt_key = "prompt";
  std::string reward_fn_key = "data_source";
  std::string default_data_source = {};  // of rows without that field; empty: they are at fault
  std::string answer_key = {};           // as find_ground_truth() takes it
  std::string prompt_suffix = {};        // put behind prompts that are texts, after a blank
  bool text_as_message = false;          // such a prompt becomes a message of the user
  int64_t max_prompt_length = 512;       // ids
  bool filter_overlong_prompts = false;
  Truncation truncation = Truncation::error;  // of those that are not filtered
  bool keep_rows = false;  // for scorers that may look at any field: ground truths may then be numbers, or missing
  ChatRendering chat = {};
  int64_t max_samples = -1;  // these three as RowChoice takes them
  bool shuffle = false;
  uint64_t seed = 0;
};

struct PromptSet {
  std::vector<Prompt> prompts;
  int64_t num_filtered = 0;  // of the chosen rows, left out for their length
  int64_t num_truncated = 0;
};

// Adds every fault of every row to `faults`; rows whose prompt alone is at fault stay in the set without ids, so that
// their data sources can be checked in the same go. Call faults.raise_if_any() before using the set.
PromptSet load_prompts(const PromptSetOptions& options, const Tokenizer& tokenizer, io::Faults& faults);

// Differs between sets that differ in order, ids, data sources or ground truths: a run is not resumed on other data.
// Of what decides a run besides the recipe and the weights.
uint64_t data_hash(const std::vector<Prompt>& prompts, const std::vector<int32_t>& end_ids);

}  // namespace hone
