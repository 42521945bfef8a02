// SpeculationState as text: what a checkpoint keeps of speculation.
#pragma once

#include <string>

#include "rollout/speculator.h"

namespace hone {

// JSON; the numbers come back to the bit.
std::string speculation_text(const SpeculationState& state);
// Raises Error, with the place in `name`, on what no state can be.
SpeculationState parse_speculation(const std::string& text, const std::string& name);

}  // namespace hone
