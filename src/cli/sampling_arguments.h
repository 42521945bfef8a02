// What commands take for sampling beside temperature, length and number.
#pragma once

#include <string>

#include "cli/commands.h"
#include "rollout/sequence.h"

namespace hone::cli {

// Raises Error, naming the option, for a value that it cannot have. The tokenizer outlives the parameters.
void set_sampling(const SamplingArgs& args, const Tokenizer& tokenizer, SamplingParams& sampling);
void set_filter(const SamplingArgs& args, kernels::Filter& filter);

}  // namespace hone::cli
