#include "records/trajectory.h"

namespace hone {

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

std::optional<FinishReason> finish_reason(const std::string& text) {
  for (auto reason : {FinishReason::end, FinishReason::stop, FinishReason::length, FinishReason::aborted}) {
    if (text == name(reason)) return reason;
  }
  return std::nullopt;
}

}  // namespace hone
