// --custom-reward and --run-code: who scores beside the scorers of ours.
#pragma once

#include "cli/commands.h"
#include "reward/scorer.h"

namespace hone::cli {

// What a function prints goes to the error output. Raises Error when one of them cannot work.
ScoringRules scoring_of(const ScoringArgs& args, uint64_t seed);

}  // namespace hone::cli
