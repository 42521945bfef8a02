// A row of data in verl's form, as its preparation scripts write one.
#pragma once

#include <string>

#include "io/json.h"

namespace hone {

// `prompt`: a text, or messages. No `ability` where it is empty. `style` goes to reward_model, beside the ground truth.
io::Json verl_row(const std::string& data_source, io::Json prompt, const std::string& ability, const std::string& style,
                  io::Json ground_truth, io::Json extra_info);

}  // namespace hone
