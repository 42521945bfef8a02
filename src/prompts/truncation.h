// What is done with a prompt that is longer than its limit (verl's data.truncation).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hone {

// left and right name the side that is cut away; middle keeps both ends, of an odd limit one id more of the end.
enum class Truncation { error, left, right, middle };

std::optional<Truncation> truncation(std::string_view name);

// Cuts to max_length ids; `how` is not error.
void truncate(std::vector<int32_t>& ids, int64_t max_length, Truncation how);

}  // namespace hone
