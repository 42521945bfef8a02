// generate_rows: answers to the rows of a JSONL file, as rows of another one in the same order. A run that was killed
// goes on where the other file ends.
#pragma once

#include "cli/commands.h"

namespace hone::cli {

int generate_rows(const GenerateArgs& args);

}  // namespace hone::cli
