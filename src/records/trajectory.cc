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
