// The ids on which a model ends its answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone {

// `eos_token_id` (an id or a list) of generation_config.json, then of config.json, each id once. A file that is absent
// says nothing; the result is empty when neither names one.
std::vector<int32_t> read_end_ids(const std::string& folder);

}  // namespace hone
