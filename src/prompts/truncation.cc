#include "prompts/truncation.h"

#include "core/error.h"

namespace hone {

std::optional<Truncation> truncation(std::string_view name) {
  if (name == "error") return Truncation::error;
  if (name == "left") return Truncation::left;
  if (name == "right") return Truncation::right;
  if (name == "middle") return Truncation::middle;
  return {};
}

void truncate(std::vector<int32_t>& ids, int64_t max_length, Truncation how) {
  HONE_CHECK(how != Truncation::error && max_length >= 0, "limit {}", max_length);
  const int64_t excess = static_cast<int64_t>(ids.size()) - max_length;
  if (excess <= 0) return;
  const int64_t kept_left = how == Truncation::left ? 0 : how == Truncation::right ? max_length : max_length / 2;
  const auto begin = ids.begin() + kept_left;
  ids.erase(begin, begin + excess);
}

}  // namespace hone
