#include "reward/overlong.h"

#include <algorithm>

namespace hone {

double overlong_penalty(int64_t answer_length, const OverlongBuffer& buffer) {
  const int64_t used = std::clamp<int64_t>(answer_length - (buffer.max_length - buffer.length), 0, buffer.length);
  return used == 0 ? 0.0 : -buffer.penalty_factor * static_cast<double>(used) / static_cast<double>(buffer.length);
}

}  // namespace hone
