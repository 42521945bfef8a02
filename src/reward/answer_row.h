// Answers as rows of files: verl's dumps of samples, and rows with an answer and a ground truth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/json.h"
#include "reward/scorer.h"

namespace hone {

struct AnswerRow {
  std::string data_source, text, ground_truth;  // data_source may be empty
  std::string ground_truth_json;                // the ground truth as JSON; empty where there is none
  FinishReason finish = FinishReason::end;
  std::optional<int64_t> num_ids;  // of `response_ids`, as dumps have them
  std::optional<double> recorded_score, recorded_acc;

  Answer answer() const { return {data_source, text, ground_truth, finish, num_ids}; }
};

// The answer is `output`, `response`, `solution_str` or `completion` (a text, or messages: the last one's content); the
// ground truth `gts`, `ground_truth`, `gold`, `answer` or reward_model.ground_truth (what is no text is taken as JSON).
// Raises Error when one of them is missing; a ground truth that is not needed is empty then.
AnswerRow read_answer_row(const io::Json& row, bool needs_truth = true);

}  // namespace hone
