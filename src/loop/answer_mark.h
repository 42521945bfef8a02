// Marks of what decides answers, by which a command that goes on with a file of answers knows that they are its own.
#pragma once

#include <string>

#include "kernels/filter.h"

namespace hone {

// Of a folder or GGUF file: where it lies, its files by name, size and time, those of the model under an adapter, and
// the numeric mode of the dtype (numeric_mode.h) on this machine.
std::string mark_of_model(const std::string& model, const std::string& dtype);
std::string mark_of_filter(const kernels::Filter& filter);

}  // namespace hone
