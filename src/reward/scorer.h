// Scorers judge answers: pure functions of (data source, answer, ground truth, how it ended). A score is a number or
// *absent* with the reason; absent never becomes 0. Data sources and rules are verl's where it has them.
// Not here: scorers of the user's own (processes) and the mathematics graders.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/faults.h"
#include "records/prompt.h"
#include "records/trajectory.h"

namespace hone {

struct Answer {
  std::string_view data_source;
  std::string_view text;  // without special tokens
  std::string_view ground_truth;
  FinishReason finish = FinishReason::end;
};

// Raises Bug for a data source that find_unscorable() would have named. A scorer that fails, or gives NaN or an
// infinity, makes this one score absent.
Score score(const Answer& answer);

// NaN and infinities become absent.
Score finite_or_absent(Score given);

// Before a run starts: adds data sources without scorer (once for each file, with the number of rows) and rows whose
// ground truth their scorer cannot read.
void find_unscorable(const std::vector<Prompt>& prompts, io::Faults& faults);

}  // namespace hone
