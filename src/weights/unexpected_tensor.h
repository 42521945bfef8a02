// Why a tensor of a checkpoint is not one of the model, in words for the user. Private to weights/.
#pragma once

#include <string>

#include "models/layout.h"

namespace hone::weights {

// Rotary tables of old files: computed, not read.
bool is_ignored(const std::string& tensor);

std::string why_unexpected(const std::string& tensor, const ModelConfig& config);
// A clause to put behind "found no such tensor"; may be empty.
std::string why_missing(const std::string& tensor);

}  // namespace hone::weights
