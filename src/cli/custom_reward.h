// --custom-reward: a reward function of the user's on the command line.
#pragma once

#include <memory>

#include "cli/commands.h"
#include "reward/outside_scorer.h"

namespace hone::cli {

// None when none is named. What it prints goes to the error output. Raises Error when it cannot work.
std::shared_ptr<OutsideScorer> custom_scorer(const CustomRewardArgs& args, uint64_t seed);

}  // namespace hone::cli
