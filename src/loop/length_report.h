// LengthReport: what the answers of a step say of expected lengths and of early stop; a step may have several
// generation batches.
#pragma once

#include <cstdint>
#include <span>

#include "loop/metrics.h"
#include "loop/step_metrics.h"
#include "prompts/prompt_source.h"
#include "records/trajectory.h"

namespace hone {

// Of the answers of a group that ended by themselves or were cut.
std::vector<AnswerLength> lengths_of(const Group& group);

class LengthReport {
 public:
  // The source as it was before it observed these groups; `cap`: most ids that an answer could have.
  void add(const PromptSource& source, std::span<const Group> groups, int64_t cap);
  void report_lengths(Metrics& metrics) const;
  void report_early_stop(Metrics& metrics) const;

 private:
  Spread expected_, error_, length_;
  double groups_ = 0, known_ = 0, bounds_ = 0;
  double answers_ = 0, cut_answers_ = 0, ids_ = 0, cut_ids_ = 0;
  int64_t cap_ = 0;
};

}  // namespace hone
