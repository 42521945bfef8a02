#include "records/trajectory.h"

#include <algorithm>

namespace hone {

int64_t Trajectory::num_loss() const {
  if (loss_mask.empty()) return std::ssize(response_ids);
  return std::count(loss_mask.begin(), loss_mask.end(), uint8_t{1});
}

const char* name(FinishReason reason) {
  switch (reason) {
    case FinishReason::end:
      return "end";
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::aborted:
      return "aborted";
  }
  return "";
}

std::optional<FinishReason> find_finish_reason(std::string_view wanted) {
  for (const FinishReason reason :
       {FinishReason::end, FinishReason::stop, FinishReason::length, FinishReason::aborted}) {
    if (wanted == name(reason)) return reason;
  }
  return {};
}

std::string shown_name(const ScoreExtra& extra) { return extra.name == "reward" ? "extra_reward" : extra.name; }

const ScoreExtra* find_extra(const Score& score, std::string_view name) {
  for (const ScoreExtra& extra : score.extras) {
    if (extra.name == name) return &extra;
  }
  return nullptr;
}

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::right:
      return "right";
    case Verdict::wrong:
      return "wrong";
    case Verdict::no_answer:
      return "no answer";
    case Verdict::undecided:
      return "undecided";
  }
  return "";
}

}  // namespace hone
