// Published data sets as rows in verl's form, as its preparation scripts (examples/data_preprocess) give them: the
// question with the instruction of the set as a message of the user, data_source, ability, reward_model, extra_info.
//   gsm8k          question, answer             the number behind the "#### " of the answer
//   math           problem, solution            the last box of the solution; level and type are kept
//   deepscaler     problem, answer              verl has no script for it: as for math
//   dapo-math-17k  rows in verl's form          as they are, each prompt once: the published file repeats them
//   aime           problem, answer; or the same  the prompt of DAPO's math data; answers without leading zeros
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone {

struct PreparedFile {
  std::string path;
  int64_t num_rows = 0, num_repeated = 0;  // repeated prompts are left out
};

// Reads the files of `inputs` (of a folder those of its own, or of data/ in it, by name), which are those of the set as
// published: JSONL, a JSON list, or Parquet. Writes FOLDER/train.jsonl and FOLDER/test.jsonl: a file belongs to that
// half whose name is a word of its own or of its folder's, else to the half that the set mostly is; rows of validation
// are refused. Raises FaultError with every row that cannot be prepared, and writes nothing then.
std::vector<PreparedFile> prepare_data(const std::string& name, const std::vector<std::string>& inputs,
                                       const std::string& folder);

}  // namespace hone
