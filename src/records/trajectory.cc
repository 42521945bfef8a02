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

}  // namespace hone
